/** What a play on a slow machine may differ in from what was recorded, and what it may not. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Case, End } from '../src/case.ts'
import type { Played } from '../src/client.ts'
import { comparable, known, type RecordedAdapter } from '../src/recorded.ts'

const caseWith = (end: End): Case => ({
  group: 'a',
  id: 'a/case',
  ref: '',
  steps: [],
  expected: { replies: [{ status: 200 }], end, interim: 'never' },
  cutLimit: 0,
  cut: false,
})

const reply = { status: 200, headers: {}, body: '', untilClose: false, trailers: [] }

/** Gives the verdict that is compared with `recorded`, for a play of one reply that ended so. */
function verdict(
  adapter: RecordedAdapter,
  recorded: string,
  changes: Partial<Played>,
  expected: End = 'closed',
  replies = 1,
): string {
  const read = { replies: Array(replies).fill(reply), interim: 0, partial: false, fault: null }
  const played: Played = {
    read,
    end: 'closed',
    waited: 0,
    idle: 0,
    probed: Infinity,
    early: 0,
    reset: false,
    ...changes,
  }
  const outcome = {
    one: caseWith(expected),
    target: { carrier: 'tcp' as const, port: 0 },
    cut: { kind: 'whole' as const },
    played,
    differences: [],
  }
  return comparable(adapter, outcome, { verdict: recorded, fits: false }).verdict
}

describe('a verdict is compared', () => {
  const silent = '200; silent'
  const open = '200; open'
  const closed = '200; closed'
  const table: [string, RecordedAdapter, string, Partial<Played>, End, string][] = [
    [
      'a close in place of silence, before uws can close',
      'uwebsockets',
      silent,
      { idle: 7_900 },
      'open',
      closed,
    ],
    ['a close in place of silence, after that', 'uwebsockets', silent, { idle: 8_000 }, 'open', silent],
    ['a close in place of silence of node:http', 'node-http', silent, { idle: 60_000 }, 'open', closed],
    ['a close within what a play looks for', 'node-http', silent, { waited: 28 }, 'any', closed],
    ['a close after what a play looks for', 'node-http', silent, { waited: 30 }, 'any', silent],
    [
      'a close, and the probe was sent before',
      'uwebsockets',
      open,
      { idle: 8_000, probed: 7_900 },
      'open',
      closed,
    ],
    [
      'a close, and the probe was sent after',
      'uwebsockets',
      open,
      { idle: 9_000, probed: 8_000 },
      'open',
      open,
    ],
    ['a close, and the probe was not sent', 'uwebsockets', open, { idle: 8_000 }, 'open', open],
    ['a close in place of open, at once', 'uwebsockets', open, { idle: 10 }, 'open', closed],
    ['a close in place of open of node:http', 'node-http', open, { idle: 60_000 }, 'open', closed],
    [
      'an open connection in place of a close',
      'uwebsockets',
      closed,
      { end: 'open', idle: 9_000 },
      'closed',
      open,
    ],
    ['silence in place of a close', 'node-http', closed, { end: 'silent', idle: 9_000 }, 'closed', silent],
    ['silence in place of open', 'uwebsockets', open, { end: 'silent', idle: 9_000 }, 'open', silent],
  ]
  for (const [what, adapter, recorded, changes, expected, wanted] of table)
    test(what, () => assert.equal(verdict(adapter, recorded, changes, expected), wanted))

  test('a missing reply, however late', () => {
    assert.equal(verdict('uwebsockets', silent, { idle: 9_000 }, 'open', 0), 'no reply; silent')
  })
})

test('a play waits for the replies and the end that were recorded', () => {
  const of = (text: string) => known('node-http', { verdict: text, fits: true })
  const each: [string, number, string][] = [
    ['no reply; silent', 0, 'silent'],
    ['200; open', 1, 'open'],
    ['200 (POST /echo, body 5), 404; closed', 2, 'closed'],
    ['200, 400 (the canary); closed; replied early', 2, 'closed'],
    ['200 (GET /p/x, 200), 413; closed', 2, 'closed'],
  ]
  for (const [text, replies, end] of each)
    assert.deepEqual([of(text)?.replies, of(text)?.end], [replies, end])
  assert.equal(known('node-http', undefined), undefined)
})
