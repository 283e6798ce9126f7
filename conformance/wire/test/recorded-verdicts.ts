/** What an adapter with a parser of its own does with every case, beside what was recorded of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import type { Carrier, Target } from '../src/carrier.ts'
import type { Case } from '../src/case.ts'
import { cases } from '../src/cases/all.ts'
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
    const play = ({ one, target }: Play) => judge(target, one, { kind: 'whole' })
    try {
      const plays = cases.flatMap((one) => targets(server, one).map((target): Play => ({ one, target })))
      const outcomes = await inParallel(plays, play, otherParallel)
      const actual: Record<string, Recorded> = {}
      const wanted: Record<string, Recorded | undefined> = {}
      for (const outcome of outcomes) {
        const { one, target } = outcome
        const name = `${one.id} over ${target.carrier}`
        actual[name] = recorded(outcome)
        wanted[name] = file.verdicts[one.id]
        // Beside 255 other cases on a busy machine, or on one that stands still, the server may close a connection too late
        // for the client to see it. The case is played again, alone.
        for (let again = 0; again < 5 && !isDeepStrictEqual(actual[name], wanted[name]); again++)
          actual[name] = recorded(await play(outcome))
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
