/**
 * Tests the verdict on a storm of handshakes: rounds without a storm, wrong replies and late clients do not meet the
 * bar.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeReply } from '../src/reply-text.ts'
import { type StormRound, judgeStorm } from '../src/tls-storm.ts'

const healthy = { fromDue: 4, fromWrite: 2, late: 1.5, worst: 9, failed: 0 }

function round(beside: Partial<StormRound['beside']>, rest: Partial<StormRound> = {}): StormRound {
  return {
    without: healthy,
    beside: { ...healthy, ...beside },
    busy: 0.5,
    handshakes: 900,
    ...rest,
  }
}

test('twice as long beside a storm is met', () => {
  const { due, write, faults } = judgeStorm([round({ fromDue: 8, fromWrite: 4 })])
  assert.deepEqual([due.ratio, write.ratio, faults], [2, 2, []])
})

test('what the lateness of the client hides from one clock is seen by the other', () => {
  const { faults } = judgeStorm([round({ fromDue: 6, fromWrite: 4.2 })])
  assert.deepEqual(faults, ['from write it is 2.10 times as long'])
})

test('ratios are of pairs: one round without handshakes that was slow helps no other', () => {
  const slow = { ...healthy, fromDue: 40, fromWrite: 40 }
  const { faults } = judgeStorm([
    round({ fromDue: 12, fromWrite: 6 }),
    round({ fromDue: 40, fromWrite: 40 }, { without: slow }),
    round({ fromDue: 12, fromWrite: 6 }),
  ])
  assert.deepEqual(faults, ['from due it is 3.00 times as long', 'from write it is 3.00 times as long'])
})

test('50 ms is too long, however long it is without handshakes', () => {
  const slow = { ...healthy, fromDue: 40, fromWrite: 40 }
  const { faults } = judgeStorm([round({ fromDue: 50, fromWrite: 49 }, { without: slow })])
  assert.deepEqual(faults, ['from due it is 50.00 ms'])
})

test('a round without a storm, or with a request that failed, is a fault', () => {
  const calm = round({}, { busy: 0.49, handshakes: 499 })
  assert.match(judgeStorm([round({}), calm]).faults.join(), /^there was no storm in 1 of 2 rounds/)
  assert.deepEqual(judgeStorm([round({}, { busy: 0.2, handshakes: 500 })]).faults, [])
  assert.deepEqual(judgeStorm([round({ failed: 1 })]).faults, ['1 requests failed'])
})

test('no reply at all is below no bar', () => {
  const none = { fromDue: Number.NaN, fromWrite: Number.NaN }
  assert.equal(judgeStorm([round(none)]).faults.length, 4)
})

test('a reply is right with status 200 and the whole body alone', () => {
  const reply = (status: string, body: string, length = body.length) =>
    `HTTP/1.1 ${status}\r\nContent-Length: ${length}\r\n\r\n${body}`
  const right = reply('200 OK', '{"a":1}')
  assert.deepEqual(takeReply(`${right}HTTP`, '{"a":1}'), { isRight: true, rest: 'HTTP' })
  assert.equal(takeReply(right.slice(0, -1), '{"a":1}'), null)
  assert.equal(takeReply('HTTP/1.1 200 OK\r\n', '{"a":1}'), null)
  for (const wrong of [
    reply('500 Internal Server Error', '{"a":1}'),
    reply('200 OK', '{"a":2}'),
    reply('200 OK', '{"a":1}}'),
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n',
  ])
    assert.equal(takeReply(wrong, '{"a":1}')?.isRight, false)
})
