/** What `worker` of `volant/cluster` gives in a process without a supervisor; with one: examples/reference-api. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { worker } from '../src/cluster/index.ts'
import { VolantError } from '../src/errors/errors.ts'

test('a process without a supervisor is its only worker, and has nobody to replace it', async () => {
  assert.deepEqual([worker.isSupervised, worker.id, worker.count], [false, 0, 1])
  assert.equal(await worker.cluster(), null)
  assert.throws(
    () => worker.roll(),
    (error) =>
      error instanceof VolantError && error.code === 'E_UNSUPPORTED' && /volant start/.test(error.message),
  )
})
