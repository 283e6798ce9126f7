/**
 * The keep-alive time of the native engine, and a handler that blocks the loop. The engine reads its clock once a turn,
 * and this is about a turn that lasts: time has to pass within it that the engine has not been told of, so it is real.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineClock } from '@volant/engine'
import { blockFor } from '@volant/test-kit'
import { Kit, request } from '../src/kit.ts'
import { skip } from './engine/native.ts'

const kit = new Kit('native')

test('the keep-alive time begins after a handler that blocked, not before it', { skip }, async (t) => {
  t.after(() => engineClock.hold(false))
  let failure: unknown
  // On a busy machine a connection may be idle for longer than the shorter time until the clock is held.
  for (const keepAliveTimeout of [400, 4_000]) {
    const app = kit.app({ limits: { keepAliveTimeout } })
    app.get('/', () => 'served')
    app.get('/slow', () => {
      blockFor(1.5 * keepAliveTimeout)
      return 'slow'
    })
    try {
      return await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send(request('GET', '/slow')).reply()).text, 'slow')
        engineClock.hold(true)
        // Less than the keep-alive time, and enough for the connection to be closed if that has begun before the handler.
        await engineClock.advance(keepAliveTimeout / 2)
        assert.equal((await wire.send(request('GET', '/')).reply()).text, 'served')
      })
    } catch (error) {
      failure = error
      engineClock.hold(false)
    }
  }
  throw failure
})
