/** The keep-alive time of the native engine, and a loop that is blocked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kit, request } from '../src/kit.ts'
import { skip } from './engine/native.ts'

const kit = new Kit('native')

/** Keeps the event loop from running. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('a request that came while the loop was blocked is no idle connection', { skip }, async () => {
  const app = kit.app({ limits: { keepAliveTimeout: 300 } })
  app.get('/', () => 'served')
  await kit.serve(app, async (live) => {
    const wires = await Promise.all(Array.from({ length: 50 }, () => live.connect()))
    for (const wire of wires) assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
    for (const wire of wires) wire.send(request('GET', '/'))
    block(700)
    for (const wire of wires) assert.equal((await wire.reply()).text, 'served')
  })
})

test('the keep-alive time begins after a handler that blocked, not before it', { skip }, async () => {
  const app = kit.app({ limits: { keepAliveTimeout: 400 } })
  app.get('/', () => {
    block(600)
    return 'slow'
  })
  await kit.serve(app, async (live) => {
    const wire = await live.connect()
    assert.equal((await wire.send(request('GET', '/')).reply()).text, 'slow')
    // Less than the keep-alive time, and enough for the connection to be closed if that has begun before the handler.
    await sleep(200)
    assert.equal((await wire.send(request('GET', '/')).reply()).text, 'slow')
  })
})
