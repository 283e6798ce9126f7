import assert from 'node:assert/strict'
import { test } from 'node:test'
import { entryRunning, measured, skip } from './broken-entry.ts'

test(
  'the time runs from the spawn to the first right reply, and memory is that of an idle server',
  { skip },
  async () => {
    const begun = performance.now()
    const { status, metrics } = await measured(entryRunning('honest'), 'veloxts-startup')
    assert.equal(status, 'measured')
    // In milliseconds, and no longer than all starts together.
    const start = Number(metrics.start)
    assert.ok(start > 10 && start < performance.now() - begun, String(start))
    assert.ok(Number(metrics.idleRss) > 10 && Number(metrics.idleRss) < 300, String(metrics.idleRss))
  },
)

test('a server that ends before it answers is named with its last error', { skip }, async () => {
  const { status, reason } = await measured(entryRunning('dies-at-start'), 'veloxts-startup')
  assert.equal(status, 'failed')
  assert.equal(reason, 'dies-at-start ended before it was ready (1): Error: no luck')
})
