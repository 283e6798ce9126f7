import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import type { VolantError } from 'volant'
import { deferred, type Kit } from '../../kit.ts'
import { Peer } from '../../peer.ts'

/** What is published, to whom and in which order. */
export function publishing(kit: Kit): void {
  describe('topics of WebSockets', () => {
    test('what one hook does stays in its order', async () => {
      const app = kit.app()
      app.ws('/', {
        message(ws) {
          ws.publish('t', '0', { self: true })
          ws.send('1')
          ws.subscribe('t')
          ws.publish('t', '2', { self: true })
          ws.send('3')
          ws.publish('t', '4', { self: true })
          ws.unsubscribe('t')
          ws.publish('t', '5', { self: true })
          ws.send('6')
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        peer.send('go')
        const got = [
          await peer.text(),
          await peer.text(),
          await peer.text(),
          await peer.text(),
          await peer.text(),
        ]
        assert.deepEqual(got, ['1', '2', '3', '4', '6'])
      })
    })

    test('a schema checks what is published, once', async () => {
      const app = kit.app()
      let checks = 0
      const out = z.object({ text: z.string() }).refine(() => ++checks > 0)
      const chat = app.ws('/', {
        out,
        open(ws) {
          ws.subscribe('t')
          ws.send({ text: 'ready' })
        },
      })
      await kit.serve(app, async (live) => {
        const peers = [await Peer.open(live, '/'), await Peer.open(live, '/'), await Peer.open(live, '/')]
        for (const peer of peers) assert.equal(await peer.text(), '{"text":"ready"}')
        checks = 0
        chat.publish('t', { text: 'a' })
        assert.throws(() => chat.publish('t', { text: 1 } as never), { code: 'E_RESPONSE_INVALID' })
        app.publish('t', 'raw')
        for (const peer of peers) {
          assert.equal(await peer.text(), '{"text":"a"}')
          assert.equal(await peer.text(), 'raw')
        }
        assert.equal(checks, 1)
      })
    })

    test('nobody gets what is published before the app listens, or after it has closed', async () => {
      const app = kit.app()
      const route = app.ws('/', {
        open(ws) {
          ws.subscribe('t')
          ws.send('ready')
        },
      })
      route.publish('t', 'too early')
      app.publish('t', 'too early')
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        assert.equal(await peer.text(), 'ready')
        app.publish('t', 'now')
        assert.equal(await peer.text(), 'now')
      })
      route.publish('t', 'too late')
      app.publish('t', 'too late')
    })

    test('names of topics and messages are checked', async () => {
      const app = kit.app()
      const codes: unknown[] = []
      const done = deferred<void>()
      const code = (run: () => void): void => {
        try {
          run()
          codes.push('fine')
        } catch (error) {
          codes.push((error as VolantError).code)
        }
      }
      app.ws('/', {
        open(ws) {
          for (const topic of ['', 'a'.repeat(1_025), '\ud800', 1 as never, 'a'.repeat(1_024)])
            code(() => ws.subscribe(topic))
          code(() => ws.publish('', 'x'))
          code(() => app.publish('a', {} as never))
          done.resolve()
        },
      })
      await kit.serve(app, async (live) => {
        await Peer.open(live, '/')
        await done.promise
      })
      const topic = 'E_SOCKET_TOPIC'
      assert.deepEqual(codes, [topic, topic, topic, topic, 'fine', topic, 'E_SOCKET_MESSAGE'])
    })

    test('a message for many is compressed for those that take it', async () => {
      const app = kit.app()
      app.ws('/', {
        compress: { threshold: 100 },
        open(ws) {
          ws.subscribe('t')
          ws.send('ready')
        },
      })
      await kit.serve(app, async (live) => {
        const offer = { 'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits' }
        const [compressed, plain] = [await Peer.open(live, '/', offer), await Peer.open(live, '/')]
        const chosen = compressed.reply.headers['sec-websocket-extensions'] ?? ''
        assert.match(chosen, /^permessage-deflate;/)
        assert.match(chosen, /server_no_context_takeover/)
        assert.match(chosen, /client_no_context_takeover/)
        assert.equal(plain.reply.headers['sec-websocket-extensions'], undefined)
        for (const peer of [compressed, plain]) assert.equal(await peer.text(), 'ready')
        const text = 'again '.repeat(500)
        app.publish('t', text)
        const { rsv1, payload } = await plain.next()
        assert.deepEqual([rsv1, payload.toString()], [false, text])
        const first = await compressed.wire.until(
          () => (compressed.wire.received.length > 2 ? compressed.wire.received : undefined),
          'a frame',
        )
        assert.equal((first[0] as number) & 0x40, 0x40)
        assert.equal(await compressed.text(), text)
        app.publish('t', 'short')
        assert.equal((await compressed.next()).rsv1, false)
      })
    })
  })
}
