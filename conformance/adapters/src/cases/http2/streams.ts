import assert from 'node:assert/strict'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { test } from 'node:test'
import { deferred, eventually, type Kit, within } from '../../kit.ts'
import { ask, type Http2Server } from './server.ts'

export function http2Streams(kit: Kit, server: Http2Server): void {
  test('many streams of one connection are answered, also those past maxStreams', async () => {
    const app = kit.app({ limits: { maxStreams: 8 } })
    let open_ = 0
    let most = 0
    app.get('/', async () => {
      most = Math.max(most, ++open_)
      await new Promise((resolve) => setImmediate(resolve))
      open_--
      return 'x'
    })
    await server.serve(app, async (client) => {
      // A client may open any number of streams before it has read the SETTINGS of the server.
      await once(client, 'remoteSettings')
      const replies = await Promise.all(Array.from({ length: 200 }, () => ask(client, {})))
      assert.ok(replies.every(({ status }) => status === 200))
      assert.ok(most > 1 && most <= 8, `${most} at once`)
    })
  })

  test('a reset aborts ctx.signal, and the other streams go on', async () => {
    const app = kit.app()
    const begun = deferred()
    const aborted = deferred()
    app.get('/wait', async (ctx) => {
      ctx.signal.addEventListener('abort', () => aborted.resolve())
      begun.resolve()
      await aborted.promise
    })
    app.get('/', () => 'fine')
    await server.serve(app, async (client) => {
      const stream = client.request({ ':path': '/wait' }).on('error', () => {})
      await begun.promise
      stream.close(constants.NGHTTP2_CANCEL)
      await within(aborted.promise, 'the abort of ctx.signal')
      assert.equal((await ask(client, {})).body.toString(), 'fine')
      await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
    })
  })

  test('a stream that fails after its head is reset, and no other stream with it', async () => {
    const app = kit.app()
    app.get('/broken', (ctx) =>
      ctx.stream(
        (async function* () {
          yield 'begun'
          throw new Error('broken')
        })(),
      ),
    )
    app.get('/', () => 'fine')
    await server.serve(app, async (client) => {
      await assert.rejects(ask(client, { ':path': '/broken' }))
      assert.equal((await ask(client, {})).body.toString(), 'fine')
    })
  })

  test('a close serves the streams that are open and loses none', async () => {
    const app = kit.app()
    const gate = deferred()
    let begun = 0
    app.get('/', async () => {
      begun++
      await gate.promise
      return 'served'
    })
    await server.serve(app, async (client) => {
      const open = Array.from({ length: 20 }, () => ask(client, {}))
      await eventually(() => begun === 20, 'the handlers')
      let goaways = 0
      client.on('goaway', () => goaways++)
      const closed = app.close()
      await eventually(() => goaways > 0, 'GOAWAY')
      gate.resolve()
      const replies = await within(Promise.all(open), 'the replies')
      assert.deepEqual(new Set(replies.map(({ body }) => body.toString())), new Set(['served']))
      await within(closed, 'the close')
    })
  })

  test('long replies leave room for other requests of their connection', async () => {
    const app = kit.app()
    const long = Buffer.alloc(15_000_000)
    app.get('/', () => long)
    await server.serve(app, async (client) => {
      const replies = await Promise.all([ask(client, {}), ask(client, {}), ask(client, {})])
      for (const { body } of replies) assert.equal(body.length, long.length)
    })
  })
}
