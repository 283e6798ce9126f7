import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocket as WsClient } from 'ws'
import { VolantError } from 'volant'
import { deferred, eventually, type Kit } from '../../kit.ts'
import { frame, Opcode, Peer } from '../../peer.ts'

/** Messages in both directions, with every client. */
export function messages(kit: Kit): void {
  describe('WebSockets', () => {
    test('text and bytes go in both directions', async () => {
      const app = kit.app()
      const seen: unknown[] = []
      app.ws('/echo', {
        message(ws, message) {
          seen.push(message)
          const isTaken = ws.send(message)
          // How much the socket takes at once differs, and that does not wait.
          if (message.length < 65_536) assert.equal(isTaken, true)
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/echo')
        for (const size of [0, 1, 125, 126, 65_535, 65_536, 300_000]) {
          const text = 'a'.repeat(size)
          assert.equal(await peer.send(text).text(), text)
          const bytes = Buffer.alloc(size, 0xff)
          const { opcode, payload } = await peer.send(bytes).next()
          assert.equal(opcode, Opcode.binary)
          assert.ok(payload.equals(bytes))
        }
        assert.equal(await peer.send('é € 😀').text(), 'é € 😀')
      })
      assert.equal(seen.filter((message) => typeof message === 'string').length, 8)
      assert.ok(seen.every((message) => typeof message === 'string' || Buffer.isBuffer(message)))
    })

    test('a message in pieces is one, and pings between them are answered', async () => {
      const app = kit.app()
      app.ws('/', { message: (ws, message) => ws.send(message) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        peer.frame(Opcode.text, 'one ', { fin: false })
        peer.frame(Opcode.ping, 'p')
        const pong = await peer.next()
        assert.deepEqual([pong.opcode, pong.payload.toString()], [Opcode.pong, 'p'])
        peer.frame(Opcode.continuation, 'two ', { fin: false }).frame(Opcode.continuation, 'three')
        assert.equal(await peer.text(), 'one two three')
        // Every byte by itself.
        for (const byte of frame(Opcode.text, 'slowly')) peer.wire.send(Uint8Array.of(byte))
        assert.equal(await peer.text(), 'slowly')
      })
    })

    test('open, message and close have the data of upgrade', async () => {
      const app = kit.app()
      const seen: unknown[] = []
      const closed = deferred<void>()
      app.ws('/chat/:room', {
        async upgrade(ctx) {
          await Promise.resolve()
          return { room: ctx.params.room, name: ctx.query['name'] }
        },
        open(ws) {
          seen.push(['open', { ...ws.data }, ws.readyState, ws.ip, ws.protocol, typeof ws.id])
          ws.send('welcome')
        },
        message(ws, message) {
          seen.push(['message', ws.data.room, message])
          ws.data.room = 'other'
        },
        close(ws, code, reason) {
          seen.push(['close', ws.data.room, code, reason, ws.readyState])
          closed.resolve()
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/chat/a%20b?name=ada')
        assert.equal(await peer.text(), 'welcome')
        peer.send('one').close(4001, 'enough')
        assert.equal((await peer.closing())[0], 4001)
        await peer.wire.ended()
        await closed.promise
      })
      assert.deepEqual(seen, [
        ['open', { room: 'a b', name: 'ada' }, 1, '127.0.0.1', '', 'string'],
        ['message', 'a b', 'one'],
        ['close', 'other', 4001, 'enough', 3],
      ])
    })

    test('ids differ, and stay', async () => {
      const app = kit.app()
      const ids: string[] = []
      app.ws('/', {
        open: (ws) => void ids.push(ws.id),
        message: (ws) => {
          ids.push(ws.id)
          ws.send('ok')
        },
      })
      await kit.serve(app, async (live) => {
        const one = await Peer.open(live, '/')
        await one.send('x').text()
        await Peer.open(live, '/')
        await eventually(() => ids.length === 3, 'the second')
      })
      assert.equal(ids[0], ids[1])
      assert.notEqual(ids[0], ids[2])
    })

    for (const size of [100, 20_000, 200_000]) {
      test(`bytes that are changed behind send and publish arrive as they were: ${size} of them`, async () => {
        const app = kit.app()
        const given = (): Uint8Array<ArrayBuffer> => new Uint8Array(size).fill(1)
        app.ws('/', {
          open: (ws) => ws.subscribe('t'),
          message(ws) {
            for (const way of ['send', 'ws.publish', 'app.publish']) {
              const bytes = given()
              if (way === 'send') ws.send(bytes)
              else if (way === 'ws.publish') ws.publish('t', bytes, { self: true })
              else app.publish('t', bytes)
              bytes.fill(2)
            }
            const taken = given()
            ws.send(taken)
            structuredClone(taken.buffer, { transfer: [taken.buffer] })
          },
        })
        await kit.serve(app, async (live) => {
          const one = await Peer.open(live, '/')
          const other = await Peer.open(live, '/')
          one.send('go')
          for (const [peer, messages] of [
            [one, 4],
            [other, 2],
          ] as const) {
            for (let at = 0; at < messages; at++) {
              assert.ok((await peer.next()).payload.equals(given()), `message ${at}`)
            }
          }
        })
      })
    }

    test('bytes that wait for a slow client are not those that were written over them', async () => {
      const app = kit.app()
      const size = 4_000_000
      const sent = deferred<void>()
      app.ws('/', {
        message(ws) {
          const bytes = Buffer.alloc(size, 1)
          ws.send(bytes)
          setImmediate(() => {
            bytes.fill(2)
            sent.resolve()
          })
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        peer.wire.socket.pause()
        peer.send('go')
        await sent.promise
        peer.wire.socket.resume()
        assert.ok((await peer.next()).payload.equals(Buffer.alloc(size, 1)))
      })
    })

    test('ws.json sends JSON, and refuses what that cannot carry', async () => {
      const app = kit.app()
      const codes: unknown[] = []
      app.ws('/', {
        message(ws) {
          for (const wrong of [undefined, new Map(), 1n]) {
            try {
              ws.json(wrong)
            } catch (error) {
              codes.push((error as VolantError).code)
            }
          }
          try {
            ws.send({} as string)
          } catch (error) {
            codes.push((error as VolantError).code)
          }
          ws.json({ a: [1, null, 'é'] })
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        assert.equal(await peer.send('go').text(), '{"a":[1,null,"é"]}')
      })
      assert.deepEqual(codes, [
        'E_NOT_SERIALISABLE',
        'E_NOT_SERIALISABLE',
        'E_NOT_SERIALISABLE',
        'E_SOCKET_MESSAGE',
      ])
    })

    test('a client of the library ws, with compression', async () => {
      const app = kit.app()
      app.ws('/', { compress: { threshold: 10 }, message: (ws, message) => ws.send(message) })
      await kit.serve(app, async ({ address }) => {
        const client = new WsClient(`${address.url.replace('http', 'ws')}/`)
        const got: string[] = []
        client.on('message', (data: Buffer) => void got.push(data.toString()))
        await new Promise((resolve, reject) => client.on('open', resolve).on('error', reject))
        assert.equal(client.extensions, 'permessage-deflate')
        const texts = ['short', 'a'.repeat(100_000), 'again '.repeat(1_000)]
        for (const text of texts) client.send(text)
        await eventually(() => got.length === 3, 'the messages')
        assert.deepEqual(got, texts)
        const closed = new Promise((resolve) => client.on('close', resolve))
        client.close(1000)
        assert.equal(await closed, 1000)
      })
    })

    const skip =
      typeof globalThis.WebSocket === 'function' ? false : 'this Node.js has no WebSocket of its own'

    test('the WebSocket of Node.js', { skip }, async () => {
      const app = kit.app()
      app.ws('/', { protocols: ['b'], compress: true, message: (ws, message) => ws.send(message) })
      await kit.serve(app, async ({ address }) => {
        const client = new WebSocket(`${address.url.replace('http', 'ws')}/`, ['a', 'b'])
        const got: unknown[] = []
        client.onmessage = ({ data }) => void got.push(data)
        await new Promise((resolve, reject) => {
          client.onopen = resolve
          client.onerror = reject
        })
        assert.equal(client.protocol, 'b')
        const long = 'lang und länger '.repeat(10_000)
        client.send('x')
        client.send(long)
        await eventually(() => got.length === 2, 'the messages')
        assert.deepEqual(got, ['x', long])
        const closed = new Promise<CloseEvent>((resolve) => {
          client.onclose = resolve
        })
        client.close(4000, 'done')
        const { code, reason, wasClean } = await closed
        assert.deepEqual([code, reason, wasClean], [4000, 'done', true])
      })
    })
  })
}
