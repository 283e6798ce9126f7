import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cases } from '../src/cases/all.ts'
import { readRecorded, recorded } from '../src/recorded.ts'
import { startServer } from '../src/server.ts'
import { inParallel, judge } from '../src/suite.ts'

test('node-http does what is recorded', async () => {
  const server = await startServer('node-http')
  try {
    const outcomes = await inParallel(cases, (one) => judge(server.port, one, { kind: 'whole' }))
    const actual = Object.fromEntries(outcomes.map((outcome) => [outcome.one.id, recorded(outcome)]))
    assert.deepEqual(actual, readRecorded(), 'record the change with run.js --adapter node-http --record')
  } finally {
    await server.close()
  }
})
