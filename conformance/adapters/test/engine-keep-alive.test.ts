/** The keep-alive time of the native engine, and requests that come while the loop is blocked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineClock } from '@volant/engine'
import { Kit, request } from '../src/kit.ts'
import { skip } from './engine/native.ts'

const kit = new Kit('native')

test('a request that came while the loop was blocked is no idle connection', { skip }, async (t) => {
  const app = kit.app({ limits: { keepAliveTimeout: 5_000 } })
  app.get('/', () => 'served')
  await kit.serve(app, async (live) => {
    engineClock.hold(true)
    t.after(() => engineClock.hold(false))
    const wires = await Promise.all(Array.from({ length: 50 }, () => live.connect()))
    for (const wire of wires) assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
    for (const wire of wires) wire.send(request('GET', '/'))
    // The event loop does not go round between the requests and this: the engine finds itself late before it reads what
    // has come, as after a loop that was blocked.
    await engineClock.advance(10_000)
    for (const wire of wires) assert.equal((await wire.reply()).text, 'served')
  })
})
