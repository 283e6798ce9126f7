import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { nativeSealer } from '../src/native-sealer.ts'
import type { TextSealer } from '../src/load.ts'

const derived = new Uint8Array(38 * 16).fill(1)

function roundTrip(): void {
  const { seal, open } = nativeSealer(derived) as TextSealer
  const sealed = seal('a', 'text') as string
  assert.equal(open('a', sealed), 'text')
  assert.equal(open('b', sealed), null)
}

if (!isMainThread) {
  for (let round = 0; round < 100; round++) roundTrip()
  parentPort?.postMessage('sealed')
  // It goes on until the thread is ended in the middle of it.
  for (;;) roundTrip()
} else if (nativeSealer(derived) !== null) {
  test('sealers work without an engine, in several threads at once, and while a thread ends', async () => {
    for (let round = 0; round < 4; round++) {
      const workers = Array.from({ length: 3 }, () => new Worker(new URL(import.meta.url)))
      await Promise.all(workers.map((worker) => once(worker, 'message')))
      roundTrip()
      assert.deepEqual(await Promise.all(workers.map((worker) => worker.terminate())), [1, 1, 1])
    }
    roundTrip()
  })

  test('sealers that nothing holds are freed', async () => {
    const start = process.memoryUsage.rss()
    // They would take 480 MB.
    for (let round = 0; round < 40_000; round++) {
      roundTrip()
      if (round % 500 === 0) await setImmediate()
    }
    assert.ok(process.memoryUsage.rss() - start < 200e6)
  })

  test('a function outlives its sealer', async () => {
    const kept = Array.from({ length: 100 }, () => (nativeSealer(derived) as TextSealer).seal)
    for (let round = 0; round < 5_000; round++) roundTrip()
    await setImmediate()
    const { open } = nativeSealer(derived) as TextSealer
    for (const seal of kept) assert.equal(open('a', seal('a', 'text') as string), 'text')
  })

  test('wrong arguments throw', () => {
    const { seal, open } = nativeSealer(derived) as unknown as Record<string, (...args: unknown[]) => unknown>
    for (const wrong of [undefined, null, 5, {}, Symbol('x')]) {
      assert.throws(() => seal?.(wrong, 'x'), { code: 'E_INTERNAL' })
      assert.throws(() => seal?.('a', wrong), { code: 'E_INTERNAL' })
      assert.throws(() => open?.('a', wrong), { code: 'E_INTERNAL' })
    }
    for (const wrong of [new Uint8Array(0), new Uint8Array(37), new Float64Array(38), 'x'.repeat(38)]) {
      assert.throws(() => nativeSealer(wrong as Uint8Array), { code: 'E_INTERNAL' }, String(wrong))
    }
  })
}
