/** The keep-alive time of the native engine, and a loop that is blocked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kit, type Live, request } from '../src/kit.ts'
import { skip } from './engine/native.ts'

const kit = new Kit('native')

/** Keeps the event loop from running. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Passes if `run` does with one of the times: on a busy machine a connection may be idle for longer than the shorter ones. */
async function holdsForOneOf(
  times: readonly number[],
  run: (live: Live, keepAliveTimeout: number) => Promise<void>,
): Promise<void> {
  let failure: unknown
  for (const keepAliveTimeout of times) {
    const app = kit.app({ limits: { keepAliveTimeout } })
    app.get('/', () => 'served')
    app.get('/slow', () => {
      block(1.5 * keepAliveTimeout)
      return 'slow'
    })
    try {
      return await kit.serve(app, (live) => run(live, keepAliveTimeout))
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

test('a request that came while the loop was blocked is no idle connection', { skip }, async () => {
  await holdsForOneOf([300, 3_000], async (live, keepAliveTimeout) => {
    const wires = await Promise.all(Array.from({ length: 50 }, () => live.connect()))
    for (const wire of wires) assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
    for (const wire of wires) wire.send(request('GET', '/'))
    block(2 * keepAliveTimeout)
    for (const wire of wires) assert.equal((await wire.reply()).text, 'served')
  })
})

test('the keep-alive time begins after a handler that blocked, not before it', { skip }, async () => {
  await holdsForOneOf([400, 4_000], async (live, keepAliveTimeout) => {
    const wire = await live.connect()
    assert.equal((await wire.send(request('GET', '/slow')).reply()).text, 'slow')
    // Less than the keep-alive time, and enough for the connection to be closed if that has begun before the handler.
    await sleep(keepAliveTimeout / 2)
    assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
  })
})
