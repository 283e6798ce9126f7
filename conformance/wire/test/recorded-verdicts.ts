/** What an adapter with a parser of its own does with every case, beside what was recorded of it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import { cases } from '../src/cases/all.ts'
import { nodeMajor, readRecorded, recorded, type RecordedAdapter } from '../src/recorded.ts'
import { startServer } from '../src/server.ts'
import { inParallel, judge, otherParallel } from '../src/suite.ts'

/** Skipped on a Node.js of another major version than the recorded one, whose parser differs. */
export function testRecorded(adapter: RecordedAdapter): void {
  const file = readRecorded(adapter)
  const skip =
    file.node === nodeMajor
      ? false
      : `${adapter}: recorded on Node.js ${file.node}, whose parser differs from ${nodeMajor}`

  test(`${adapter} does what is recorded`, { skip }, async () => {
    const server = await startServer(adapter)
    try {
      const play = (one: (typeof cases)[number]) => judge(server.port, one, { kind: 'whole' })
      const outcomes = await inParallel(cases, play, otherParallel)
      const actual = Object.fromEntries(outcomes.map((outcome) => [outcome.one.id, recorded(outcome)]))
      // Beside 255 others and a busy machine a connection may close too late to be seen; alone it is what it is.
      for (const one of cases) {
        if (isDeepStrictEqual(actual[one.id], file.verdicts[one.id])) continue
        actual[one.id] = recorded(await play(one))
      }
      assert.deepEqual(actual, file.verdicts, `record the change with run.js --adapter ${adapter} --record`)
    } finally {
      await server.close()
    }
  })
}
