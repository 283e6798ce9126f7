import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cases } from '../src/cases/all.ts'
import { type CaseServer, startServer } from '../src/server.ts'
import { explain, inParallel, judge, targets } from '../src/suite.ts'

// Over TLS a cut splits records, and the tests of `crates/tls` split records themselves. `run.js --tls --cuts` plays
// the cuts.
test('native engine over TLS: every case whole, half-closes with FIN and without', async (t) => {
  let server: CaseServer
  try {
    server = await startServer('native', 'tls')
  } catch (error) {
    t.skip(`native: ${error instanceof Error ? error.message : String(error)}`)
    return
  }
  try {
    const plays = cases.flatMap((one) => targets(server, one).map((target) => ({ one, target })))
    assert.ok(plays.length > cases.length, 'no case was played without FIN')
    const outcomes = await inParallel(plays, ({ one, target }) => judge(target, one, { kind: 'whole' }))
    const failed = outcomes.filter((outcome) => outcome.differences.length > 0).map(explain)
    assert.deepEqual(failed, [])
    assert.equal(server.smuggled(), 0)
  } finally {
    await server.close()
  }
})
