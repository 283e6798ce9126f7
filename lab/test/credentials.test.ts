import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformance } from '../src/conformance.ts'
import { withCredentials } from '../src/credentials.ts'
import { scenarioOf } from '../src/scenario.ts'
import { assignment, entryRunning, skip, undisturbed } from './broken-entry.ts'

function faultOf(kind: string): Promise<string | null> {
  const { entry, scenario, variant } = assignment(entryRunning('sessions', { KIND: kind }), 'sealed-session')
  return conformance(entry, scenario, variant, null, 0)
}

test('a server conforms that refuses changed cookies and knows whose each is', { skip }, async () => {
  assert.equal(await faultOf('checked'), null)
})

test('a cookie that can be changed does not conform', { skip }, async () => {
  assert.match(
    String(await faultOf('changeable')),
    /^GET \/read is answered with 200, not 401, with one character of the field cookie changed$/,
  )
})

test('a cookie that everybody can read does not conform', { skip }, async () => {
  await assert.rejects(faultOf('open'), /the cookie is not sealed: it shows who signed in/)
})

test('one session for all users does not conform', { skip }, async () => {
  assert.match(String(await faultOf('first')), /with another body/)
})

test('the load of a cell has each user once, and its command shows one', { skip }, async () => {
  const finding = await undisturbed(
    assignment(entryRunning('sessions', { KIND: 'checked' }), 'sealed-session'),
  )
  assert.notEqual(finding.metrics.requests, undefined, JSON.stringify(finding))
  const [, command] = finding.commands
  assert.match(String(command), /"cookie":"id=[\w-]+".*"and 9999 with other credentials"/)
})

test('credentials are those of users in turns, whose names are in what is expected', async () => {
  const [variant] = scenarioOf('jwt').variants
  const load = variant?.measure.load
  assert.ok(load?.credentials)
  const { requests, order } = await withCredentials(
    { ...load, credentials: { ...load.credentials, count: 3 } },
    0,
  )
  assert.equal(order, 'rotate')
  assert.deepEqual(
    requests.map(({ expect }) => expect.body),
    ['{"user":"u10000"}', '{"user":"u10001"}', '{"user":"u10002"}'],
  )
  assert.equal(new Set(requests.map(({ headers }) => headers['authorization'])).size, 3)
})
