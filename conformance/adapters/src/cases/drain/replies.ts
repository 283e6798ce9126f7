import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, request, within } from '../../kit.ts'
import { long, get, appsOf, serve } from './kit.ts'

export function drainOfReplies(kit: Kit): void {
  describe('draining', () => {
    const appOf = appsOf(kit)
    test('a stream that began before does not end its connection in silence', async () => {
      const app = appOf({ drainIdle: long })
      const go = deferred()
      app.get('/stream', async function* () {
        yield 'begun'
        await go.promise
        yield ' ended'
      })
      const live = await serve(app)
      const wire = await live.connect()
      wire.send(request('GET', '/stream'))
      await wire.until(() => (wire.received.includes('begun') ? true : undefined), 'the first chunk')
      const closing = app.close()
      go.resolve()
      const stream = await wire.reply()
      assert.equal(stream.text, 'begun ended')
      assert.notEqual(stream.headers['connection'], 'close')
      assert.equal((await wire.send(get).reply()).headers['connection'], 'close')
      await wire.ended()
      wire.close()
      await within(closing, 'close')
    })

    test('a stream that began before is the last reply once drainIdle is over', async () => {
      const app = appOf({ drainIdle: 0 })
      const go = deferred()
      app.get('/stream', async function* () {
        yield 'begun'
        await go.promise
      })
      const live = await serve(app)
      const [wire, idle] = [await live.connect(), await live.connect()]
      assert.equal((await idle.send(get).reply()).text, 'x')
      wire.send(request('GET', '/stream'))
      await wire.until(() => (wire.received.includes('begun') ? true : undefined), 'the first chunk')
      const closing = app.close()
      if (kit.can('idle-connections')) await idle.ended()
      go.resolve()
      assert.equal((await wire.reply()).text, 'begun')
      assert.equal(await wire.ended(), 'end')
      wire.close()
      idle.close()
      await within(closing, 'close')
    })

    test('a large reply that its client reads slowly is not cut', async () => {
      const app = appOf({ drainIdle: 0 })
      const size = 8 << 20
      app.get('/large', () => Buffer.alloc(size, 'l'))
      const live = await serve(app)
      const [wire, idle] = [await live.connect(), await live.connect()]
      wire.send(request('GET', '/large'))
      await wire.until(() => (wire.received.length > 0 ? true : undefined), 'the head')
      wire.socket.pause()
      const closing = app.close()
      if (kit.can('idle-connections')) await idle.ended()
      wire.socket.resume()
      assert.equal((await wire.reply()).body.length, size)
      wire.close()
      idle.close()
      await within(closing, 'close')
    })
  })
}
