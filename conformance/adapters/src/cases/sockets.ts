import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { WebSocket as WsClient } from 'ws'
import * as z from 'zod'
import { type InvalidMessage, VolantError } from 'volant'
import { deferred, eventually, type Kit, stderrLines } from '../kit.ts'
import { frame, Opcode, Peer } from '../peer.ts'

/** Messages and hooks of WebSockets. */
export function sockets(kit: Kit): void {
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

    describe('schemas', () => {
      const In = z.object({ text: z.string(), at: z.coerce.number().default(7) })
      const Out = z.object({ text: z.string(), at: z.number() })

      test('messages are JSON, checked and typed in both directions', async () => {
        const app = kit.app({ undeclaredProperties: 'strip' })
        app.ws('/', {
          in: In,
          out: Out,
          message(ws, { text, at }) {
            ws.send({ text: text.toUpperCase(), at, secret: 'x' } as z.input<typeof Out>)
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.deepEqual(JSON.parse(await peer.send('{"text":"a","at":"3"}').text()), { text: 'A', at: 3 })
          assert.deepEqual(JSON.parse(await peer.send('{"text":"b"}').text()), { text: 'B', at: 7 })
        })
      })

      const refused: [string, string | Buffer, number][] = [
        ['no JSON', '{"text"', 1007],
        ['an empty message', '', 1007],
        ['another shape', '{"text":1}', 1008],
        ['JSON that is nested too deeply', `${'['.repeat(65)}${']'.repeat(65)}`, 1007],
        ['a key __proto__', '{"text":"a","__proto__":{}}', 1007],
        ['bytes', Buffer.from('{"text":"a"}'), 1003],
      ]
      for (const [name, message, code] of refused) {
        test(`${name} closes with ${code}`, async () => {
          const app = kit.app()
          let got = 0
          app.ws('/', { in: In, message: () => void got++ })
          await kit.serve(app, async (live) => {
            const peer = await Peer.open(live, '/')
            assert.equal((await peer.send(message).closed())[0], code)
          })
          assert.equal(got, 0)
        })
      }

      test('the reason names the first fault, and is never too long', async () => {
        const app = kit.app()
        const said = (text: string) => ({ in: z.object({ text: z.literal(text) }) })
        app.ws('/short', { ...said('a') })
        // A character of four bytes stands where the reason is cut, wherever that is.
        for (let shift = 0; shift < 4; shift++)
          app.ws(`/${shift}`, { ...said(`${'a'.repeat(shift)}${'😀'.repeat(40)}`) })
        await kit.serve(app, async (live) => {
          const [, reason] = await (await Peer.open(live, '/short')).send('{"text":1}').closed()
          assert.match(reason, /^the message is not what its schema asks for: #\/text .*"a"/)
          for (let shift = 0; shift < 4; shift++) {
            const [code, cut] = await (await Peer.open(live, `/${shift}`)).send('{"text":1}').closed()
            assert.equal(code, 1008)
            assert.ok(cut.endsWith('...') && Buffer.byteLength(cut) <= 123, cut)
            assert.ok(!cut.includes('\ufffd'), cut)
          }
        })
      })

      test('the hook invalid decides in place of that', async () => {
        const app = kit.app()
        const problems: InvalidMessage[] = []
        app.ws('/', {
          in: In,
          message: (ws, { text }) => ws.send(text),
          invalid(ws, problem) {
            problems.push(problem)
            ws.json({ wrong: problem.code })
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal(await peer.send('{').text(), '{"wrong":1007}')
          assert.equal(await peer.send('{"text":1}').text(), '{"wrong":1008}')
          assert.equal(await peer.send('{"text":"fine"}').text(), 'fine')
        })
        const [first, second] = problems
        assert.deepEqual([first?.message, first?.issues], ['{', []])
        assert.deepEqual(
          [second?.issues[0]?.in, second?.issues[0]?.pointer, second?.message],
          ['message', '#/text', '{"text":1}'],
        )
      })

      test('a sent value that is not what out says throws, and is not sent', async () => {
        const app = kit.app()
        const errors: unknown[] = []
        app.ws('/', {
          out: Out,
          message(ws) {
            ws.send({ text: 1 } as unknown as z.input<typeof Out>)
          },
          error(ws, error) {
            errors.push((error as VolantError).code)
            ws.send({ text: 'sorry', at: 1 })
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal(await peer.send('go').text(), '{"text":"sorry","at":1}')
        })
        assert.deepEqual(errors, ['E_RESPONSE_INVALID'])
      })
    })

    describe('errors of hooks', () => {
      for (const hook of ['open', 'message'] as const) {
        for (const way of ['throws', 'rejects'] as const) {
          test(`${hook} ${way}: it is reported, and the WebSocket closed with 1011`, async () => {
            const app = kit.app()
            const before = kit.reports.length
            const run = (): unknown => {
              if (way === 'rejects') return Promise.reject(new Error(`${hook} ${way}`))
              throw new Error(`${hook} ${way}`)
            }
            app.ws('/', { [hook]: run })
            app.ws('/fine', { message: (ws, message) => ws.send(message) })
            await kit.serve(app, async (live) => {
              const fine = await Peer.open(live, '/fine')
              const peer = await Peer.open(live, '/')
              if (hook === 'message') peer.send('x')
              assert.equal((await peer.closed())[0], 1011)
              assert.equal(await fine.send('still here').text(), 'still here')
            })
            assert.deepEqual(
              kit.reports.slice(before).map((error) => (error as Error).message),
              [`${hook} ${way}`],
            )
          })
        }
      }

      test('the hook error gets them, and the WebSocket stays open', async () => {
        const app = kit.app()
        const before = kit.reports.length
        app.ws('/', {
          async message(_, message) {
            await Promise.resolve()
            throw new Error(String(message))
          },
          error: (ws, error) => ws.send(`failed: ${(error as Error).message}`),
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal(await peer.send('a').text(), 'failed: a')
          assert.equal(await peer.send('b').text(), 'failed: b')
        })
        assert.equal(kit.reports.length, before)
      })

      test('the report says which hook of which WebSocket failed', async () => {
        const told: unknown[] = []
        const app = kit.app({
          report: (error, { method, path, pattern }, hook) =>
            void told.push([(error as Error).message, method, path, pattern, hook]),
        })
        const fails = (): never => {
          throw new Error('broken')
        }
        app.get('/rooms/:room', fails)
        app.ws('/rooms/:room', { in: z.number(), message: fails, invalid: fails, close: fails })
        app.ws('/error', {
          open: fails,
          error: () => Promise.reject(new Error('broken, too')),
        })
        await kit.serve(app, async (live) => {
          await live.ask('/rooms/a')
          await (await Peer.open(live, '/rooms/a')).send('1').closed()
          await eventually(() => told.length === 3, 'the hook close of the first')
          await (await Peer.open(live, '/rooms/a')).send('no number').closed()
          await eventually(() => told.length === 5, 'the hook close of the second')
          await (await Peer.open(live, '/error')).closed()
        })
        const socket = ['WS', '/rooms/:room', '/rooms/:room']
        assert.deepEqual(told, [
          ['broken', 'GET', '/rooms/a', '/rooms/:room', undefined],
          ['broken', ...socket, 'message'],
          ['broken', ...socket, 'close'],
          ['broken', ...socket, 'invalid'],
          ['broken', ...socket, 'close'],
          ['broken, too', 'WS', '/error', '/error', 'error'],
        ])
      })

      test('the line on stderr says it as well', async () => {
        const app = kit.app({ report: undefined })
        app.ws('/rooms/:room', {
          message() {
            throw new Error('broken')
          },
        })
        const lines = await stderrLines(() =>
          kit.serve(app, async (live) => {
            await (await Peer.open(live, '/rooms/a')).send('x').closed()
          }),
        )
        assert.match(lines.join('\n'), /^volant: the hook message of WS \/rooms\/:room: Error: broken$/m)
      })

      test('an error hook that fails is reported, and closes with 1011', async () => {
        const app = kit.app()
        const before = kit.reports.length
        app.ws('/', {
          message() {
            throw new Error('first')
          },
          error() {
            throw new Error('second')
          },
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          assert.equal((await peer.send('a').closed())[0], 1011)
        })
        assert.deepEqual(
          kit.reports.slice(before).map((error) => (error as Error).message),
          ['second'],
        )
      })

      test('a hook that never settles holds up nobody', async () => {
        const app = kit.app()
        app.ws('/', {
          message(ws, message) {
            ws.send(message)
            return new Promise(() => {})
          },
          close: () => new Promise(() => {}),
        })
        await kit.serve(app, async (live) => {
          const peer = await Peer.open(live, '/')
          for (let count = 0; count < 5; count++) assert.equal(await peer.send(`${count}`).text(), `${count}`)
          await peer.close(1000).closing()
          const other = await Peer.open(live, '/')
          assert.equal(await other.send('x').text(), 'x')
        })
      })
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
