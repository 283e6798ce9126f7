import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformance } from '../src/conformance.ts'
import { assignment, entryRunning, skip } from './broken-entry.ts'

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
