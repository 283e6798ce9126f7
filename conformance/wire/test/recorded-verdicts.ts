/** What an adapter with a parser of its own does with every case, beside what was recorded of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Carrier, Target } from '../src/carrier.ts'
import type { Case } from '../src/case.ts'
import { cases } from '../src/cases/all.ts'
import type { Known } from '../src/client.ts'
import { nodeMajor, readRecorded, type Recorded, recorded, type RecordedAdapter } from '../src/recorded.ts'
import { startServer } from '../src/server.ts'
import { inParallel, judge, otherParallel, targets } from '../src/suite.ts'

/**
 * Compares the verdicts with the recorded ones, which are the same over TLS. The test is skipped on another major
 * version of Node.js than the recorded one, because its parser differs.
 */
export function testRecorded(adapter: RecordedAdapter, carrier: Carrier = 'tcp'): void {
  const file = readRecorded(adapter)
  const skip =
    file.node === nodeMajor
      ? false
      : `${adapter}: recorded on Node.js ${file.node}, whose parser differs from ${nodeMajor}`

  test(`${adapter} does what is recorded${carrier === 'tcp' ? '' : ', over TLS too'}`, { skip }, async () => {
    const server = await startServer(adapter, carrier)
    try {
      const plays = cases.flatMap((one) => targets(server, one).map((target): Play => ({ one, target })))
      const outcomes = await inParallel(
        plays,
        ({ one, target }) => judge(target, one, { kind: 'whole' }, known(file.verdicts[one.id])),
        otherParallel,
      )
      const actual: Record<string, Recorded> = {}
      const wanted: Record<string, Recorded | undefined> = {}
      for (const outcome of outcomes) {
        const { one, target } = outcome
        const name = `${one.id} over ${target.carrier}`
        const [is, was] = [recorded(outcome), file.verdicts[one.id]]
        const isLate = outcome.played.waited >= leastTime(adapter, one)
        const end = known(was)?.end
        actual[name] =
          isLate && outcome.played.end === 'closed' && end !== undefined
            ? { ...is, verdict: is.verdict.replace(/closed$/, end) }
            : is
        wanted[name] = was
      }
      assert.deepEqual(actual, wanted, `record the change with run.js --adapter ${adapter} --record`)
      assert.deepEqual(Object.keys(file.verdicts).toSorted(), cases.map((one) => one.id).toSorted())
    } finally {
      await server.close()
    }
  })
}

/**
 * A connection that is closed after so many milliseconds may have been open or silent when the verdict was recorded:
 * where it may stay open or not, the record looked for 30 ms, and uWebSockets.js closes an idle connection after 8 to
 * 12 s. A machine that stands still looks for longer.
 */
function leastTime(adapter: RecordedAdapter, one: Case): number {
  if (one.expected.end === 'any') return 30
  return adapter === 'uwebsockets' ? 8_000 : Infinity
}

function known(recorded: Recorded | undefined): Known | undefined {
  const [, replies = '', end = ''] = /^(.*); (open|closed|silent)/.exec(recorded?.verdict ?? '') ?? []
  if (end === '') return undefined
  return { replies: replies.match(/(?:^|, )\d{3}(?= \(|,|$)/g)?.length ?? 0, end: end as Known['end'] }
}

interface Play {
  readonly one: Case
  readonly target: Target
}
