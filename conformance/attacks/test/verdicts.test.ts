/** Attacks node:http2, whose verdicts are known. The test shows that the tool can report a fault. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { after, test } from 'node:test'
import { type Attack, byOne, flood } from '../src/attack.ts'
import { attacks } from '../src/attacks.ts'
import { makeCertificate } from '@volant/test-kit'
import { refusalOf } from '../src/connection.ts'
import { windowUpdate } from '@volant/test-kit/http2-frames'
import { tryAttack, tryTarget } from '../src/trial.ts'

const linux = { skip: process.platform !== 'linux' && 'memory and CPU time are read from /proc' }
const certificate = makeCertificate()
after(() => certificate.remove())

function attack(what: string | Attack) {
  return tryAttack('node', typeof what === 'string' ? attackOf(what) : what, {
    quick: true,
    encrypted: false,
    certificate,
  })
}

function attackOf(name: string) {
  const found = attacks.find((one) => one.name === name)
  assert.ok(found, `there is no attack ${name}`)
  return found
}

test('a header block without an end is refused by node:http2', linux, async () => {
  const { faults, outcome, calls } = await attack('continuation')
  assert.deepEqual(faults, [])
  assert.equal(calls, 0)
  assert.equal(outcome.closed, true)
})

test('WINDOW_UPDATE without an end is taken by node:http2, which is a fault', linux, async () => {
  // It ends nothing, however long the attack waits.
  const run: Attack['run'] = (target, times) =>
    byOne(target, (connection) => flood(connection, times, () => windowUpdate(0, 1)), { wait: 500 })
  const { faults, outcome } = await attack({ ...attackOf('window-update'), run })
  assert.equal(outcome.count, 30_000)
  assert.equal(outcome.closed, false)
  assert.match(faults.join(), /not closed/)
})

test('handlers, memory and bytes of a request that is served are counted', linux, async () => {
  const { calls, memory, outcome, faults } = await attack('request:one-field')
  assert.equal(calls, 50)
  assert.ok(outcome.sent > 50 * 8_000)
  assert.ok(outcome.received > 0)
  assert.ok(memory && memory.peak >= memory.before && memory.before > 1e7)
  assert.deepEqual(faults, [])
})

test('replies that wait are held by node:http2, which has no limit for all of them', linux, async () => {
  // It ends no stream, however long the attack waits.
  const { run, ...zeroWindow } = attackOf('zero-window')
  const { faults, memory } = await attack({
    ...zeroWindow,
    run: (target, times, patience, look) => run(target, times, { ...patience, grace: 0 }, look),
  })
  // The attack asks for 200 replies of 256 KiB. maxBufferedReplies of Volant would be 16 MiB.
  assert.ok(memory?.held && memory.held - memory.before > 5e7)
  assert.match(faults.join(), /\d\d\.\d MB are held, at most 41\.8/)
})

test('connections that the server refuses are a fault', async () => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const target = { host: '127.0.0.1', port: (closed.address() as AddressInfo).port, encrypted: false }
  await new Promise((resolve) => closed.close(resolve))
  const { faults, outcome } = await tryTarget(target, attackOf('silent'), true)
  assert.equal(outcome.ended, '200 × refused by ECONNREFUSED')
  assert.equal(faults[0], '200 of 200 connections were refused by the server')
})

test('connections that the attacker itself could not open end the attack', () => {
  const error = Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' })
  assert.throws(() => refusalOf(error), /the attacker itself could open no more connections: connect EMFILE/)
  assert.equal(refusalOf(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })), 'ECONNRESET')
})
