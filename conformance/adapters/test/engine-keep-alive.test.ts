/** The keep-alive time of the native engine, and a loop that is blocked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineClock } from '@volant/engine'
import { testClock } from '@volant/test-kit'
import { Kit, request } from '../src/kit.ts'
import { skip } from './engine/native.ts'

const kit = new Kit('native')

test('a request that came while the loop was blocked is no idle connection', { skip }, async (t) => {
  const app = kit.app({ limits: { keepAliveTimeout: 5_000 } })
  app.get('/', () => 'served')
  await kit.serve(app, async (live) => {
    const clock = testClock(t, engineClock)
    const wires = await Promise.all(Array.from({ length: 50 }, () => live.connect()))
    for (const wire of wires) assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
    for (const wire of wires) wire.send(request('GET', '/'))
    // The engine finds itself late before it reads what has come, as after a loop that was blocked.
    await clock.advance(10_000)
    for (const wire of wires) assert.equal((await wire.reply()).text, 'served')
  })
})

test('the keep-alive time begins after a handler that blocked, not before it', { skip }, async (t) => {
  const app = kit.app({ limits: { keepAliveTimeout: 5_000 } })
  app.get('/', () => 'served')
  app.get('/slow', () => {
    void engineClock.advance(7_500)
    return 'slow'
  })
  await kit.serve(app, async (live) => {
    const clock = testClock(t, engineClock)
    const wire = await live.connect()
    assert.equal((await wire.send(request('GET', '/slow')).reply()).text, 'slow')
    await clock.advance(4_999)
    assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
    await clock.advance(4_999)
    assert.equal(wire.isEnded, false)
    await clock.advance(1)
    assert.equal(await wire.ended(), 'end')
  })
})
