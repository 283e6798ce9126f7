/** What an adapter with a parser of its own does with every case, beside what was recorded of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Carrier, Target } from '../src/carrier.ts'
import type { Case } from '../src/case.ts'
import { cases } from '../src/cases/all.ts'
import {
  comparable,
  known,
  nodeMajor,
  readRecorded,
  type Recorded,
  type RecordedAdapter,
} from '../src/recorded.ts'
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
        ({ one, target }) => judge(target, one, { kind: 'whole' }, known(adapter, file.verdicts[one.id])),
        otherParallel,
      )
      const actual: Record<string, Recorded> = {}
      const wanted: Record<string, Recorded | undefined> = {}
      for (const outcome of outcomes) {
        const { one, target } = outcome
        const name = `${one.id} over ${target.carrier}`
        const verdict = file.verdicts[one.id]
        actual[name] = comparable(adapter, outcome, verdict)
        wanted[name] = verdict
      }
      assert.deepEqual(actual, wanted, `record the change with run.js --adapter ${adapter} --record`)
      assert.deepEqual(Object.keys(file.verdicts).toSorted(), cases.map((one) => one.id).toSorted())
    } finally {
      await server.close()
    }
  })
}

interface Play {
  readonly one: Case
  readonly target: Target
}
