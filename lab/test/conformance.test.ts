import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformance } from '../src/conformance.ts'
import type { Assignment } from '../src/measures/measurement.ts'
import type { Proof, Variant } from '../src/scenario.ts'
import { assignment, entryRunning, skip, undisturbed } from './broken-entry.ts'

function faultOf(server: string, asked: string, environment = {}): Promise<string | null> {
  const { entry, scenario, variant } = assignment(entryRunning(server, environment), asked)
  return conformance(entry, scenario, variant, null, 0)
}

test('an honest server conforms in every program that needs no package', { skip }, async () => {
  for (const asked of [
    'ramapi-json:pipelined',
    'ramapi-stack',
    'routes:10',
    'veloxts-memory',
    'post',
    'slow',
  ])
    assert.equal(await faultOf('honest', asked), null, asked)
})

test('a variant has proofs of its own beside those of its scenario', { skip }, async () => {
  const { entry, scenario, variant } = assignment(entryRunning('honest'), 'ramapi-json')
  const proven = (path: string) =>
    conformance(entry, scenario, { ...variant, proofs: [{ path, status: 200 }] }, null, 0)
  assert.equal(await proven('/json'), null)
  assert.equal(await proven('/of-this-variant'), 'GET /of-this-variant is answered with 404, not 200')
})

test(
  'a body is compared after its coding was undone, and must have the coding that was asked for',
  { skip },
  async () => {
    const { entry, scenario, variant } = assignment(entryRunning('codings'), 'ramapi-json')
    const faultOf = (proof: Proof) => conformance(entry, scenario, { ...variant, proofs: [proof] }, null, 0)
    const reply = 'a text of some length'
    const asked = { status: 200, reply, encoding: 'gzip' } as const
    assert.equal(await faultOf({ path: '/gzip', ...asked }), null)
    assert.equal(await faultOf({ path: '/no-gzip', ...asked }), 'GET /no-gzip: the body is not gzip')
    assert.equal(
      await faultOf({ path: '/plain', ...asked }),
      'GET /plain: the content encoding is missing, not gzip',
    )
    assert.equal(
      await faultOf({ path: '/gzip', status: 200, reply }),
      'GET /gzip: the content encoding is gzip, not missing',
    )
    assert.match(
      String(await faultOf({ path: '/gzip', ...asked, reply: 'another' })),
      /the body is "a text of/,
    )
  },
)

test('who has a reply already is told so, and one of several fields is enough', { skip }, async () => {
  const { entry, scenario, variant } = assignment(entryRunning('codings'), 'ramapi-json')
  const faultOf = (proof: Omit<Proof, 'status'>) =>
    conformance(entry, scenario, { ...variant, proofs: [{ status: 200, ...proof }] }, null, 0)
  assert.equal(await faultOf({ path: '/tagged', revalidated: true }), null)
  assert.equal(
    await faultOf({ path: '/plain', revalidated: true }),
    'GET /plain is answered with 200, not 304',
  )
  assert.equal(await faultOf({ path: '/plain', fields: { 'x-tag|etag': /tag/ } }), null)
  assert.equal(
    await faultOf({ path: '/plain', fields: { 'x-tag|y-tag': /tag/ } }),
    'GET /plain: the field x-tag or y-tag is missing',
  )
})

test(
  'a field that must not be there, and lines that say something else, do not conform',
  { skip },
  async () => {
    const codings = assignment(entryRunning('codings'), 'ramapi-json')
    const proofs: Proof[] = [{ path: '/tagged', status: 200, absent: ['x-tag', 'etag'] }]
    assert.equal(
      await conformance(codings.entry, codings.scenario, { ...codings.variant, proofs }, null, 0),
      'GET /tagged: the field etag is "a-tag"',
    )
    const { entry, scenario, variant } = assignment(entryRunning('honest'), 'ramapi-stack')
    const faultOf = (logs: RegExp) => conformance(entry, { ...scenario, logs }, variant, null, 0)
    assert.equal(await faultOf(/GET.*\/api\/users.*200/), null)
    assert.equal(await faultOf(/POST/), 'its log has 0 lines for 201 requests')
  },
)

test('a variant can go without handler and log', { skip }, async () => {
  const silent = assignment(entryRunning('silent'), 'ramapi-stack')
  const cached = assignment(entryRunning('cached'), 'ramapi-json')
  const fault = ({ entry, scenario, variant }: Assignment, changes: Partial<Variant>) =>
    conformance(entry, scenario, { ...variant, ...changes }, null, 0)
  assert.equal(await fault(silent, { logs: false }), null)
  assert.equal(await fault(cached, { handler: false }), null)
  for (const [asked, changes] of [
    [silent, { logs: false }],
    [cached, { handler: false }],
  ] as const) {
    const finding = await undisturbed({ ...asked, variant: { ...asked.variant, ...changes } })
    assert.ok(finding.metrics.requests, JSON.stringify(finding))
  }
})

const cases: [string, string, string, RegExp][] = [
  ['a missing route', 'missing-route', 'ramapi-json', /^GET \/json is answered with 404, not 200$/],
  [
    'a router that is none',
    'no-router',
    'ramapi-json',
    /^an unknown path is answered with 200: no router runs$/,
  ],
  ['an id that is always the same', 'fixed-body', 'routes:10', /resource0\/a: the body is .*fixed/],
  ['a cache before the handler', 'cached', 'ramapi-json', /^its handlers ran 0 times for 200 replies$/],
  ['runs that are not counted', 'uncounted', 'ramapi-json', /does not say how often its handlers ran/],
  ['a request log that is not kept', 'silent', 'ramapi-stack', /^its log has 0 lines for 201 requests$/],
]
for (const [what, server, asked, fault] of cases) {
  test(`${what} does not conform`, { skip }, async () => {
    assert.match(String(await faultOf(server, asked)), fault)
  })
}

test('a 429 is no success: the proofs pass, and the requests of the load are refused', { skip }, async () => {
  assert.match(
    String(await faultOf('limited', 'ramapi-json', { ALLOWED: '50' })),
    /^\d+ replies with another status.*; the first: .*429/,
  )
})

test('an id that is right for the first requests alone does not conform', { skip }, async () => {
  assert.match(
    String(await faultOf('fixed-body', 'routes:10', { HONEST: '20' })),
    /without what their request asked for|with another (body|length)/,
  )
})
