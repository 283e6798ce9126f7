import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import type { App, VolantError } from 'volant'
import { deferred, eventually, type Kit } from '../kit.ts'
import { handshake, Opcode, Peer } from '../peer.ts'

/** Every limit of WebSockets: one below, at, one above; what happens past it, and that others are unharmed. */
export function socketLimits(kit: Kit): void {
  /** Sends what `message` makes of each size to a WebSocket of its own, and gives what came of it: `echo` or a code. */
  async function outcomes(
    app: App,
    sizes: readonly number[],
    message: (peer: Peer, size: number) => void,
    headers: Record<string, string> = {},
  ): Promise<(number | 'echo')[]> {
    const results: (number | 'echo')[] = []
    await kit.serve(app, async (live) => {
      const bystander = await Peer.open(live, '/')
      for (const size of sizes) {
        const peer = await Peer.open(live, '/', headers)
        message(peer, size)
        const { opcode, payload } = await peer.next()
        results.push(opcode === Opcode.close ? payload.readUInt16BE(0) : 'echo')
      }
      bystander.send('ok')
      assert.equal((await bystander.next()).payload.toString(), '2')
    })
    return results
  }

  const counting = (app: App, options: object = {}): App => {
    app.ws('/', { ...options, message: (ws, message) => ws.send(`${message.length}`) })
    return app
  }

  describe('limits of WebSockets', () => {
    const around = (limit: number): number[] => [limit - 1, limit, limit + 1]

    test('maxMessageSize: in one frame', kit.needs('socket-faults'), async () => {
      const app = counting(kit.app({ limits: { maxMessageSize: 1_000 } }))
      const send = (peer: Peer, size: number): void => void peer.send('a'.repeat(size))
      assert.deepEqual(await outcomes(app, around(1_000), send), ['echo', 'echo', 1009])
    })

    test(
      'maxMessageSize: in pieces, and refused before the last one has come',
      kit.needs('socket-faults'),
      async () => {
        const app = counting(kit.app({ limits: { maxMessageSize: 1_000 } }))
        const results = await outcomes(app, around(1_000), (peer, size) => {
          peer.frame(Opcode.binary, Buffer.alloc(500), { fin: false })
          peer.frame(Opcode.continuation, Buffer.alloc(size - 500), { fin: size <= 1_000 })
        })
        assert.deepEqual(results, ['echo', 'echo', 1009])
      },
    )

    test(
      'maxMessageSize: a head that announces too much is refused without the bytes',
      kit.needs('socket-faults'),
      async () => {
        const app = counting(kit.app({ limits: { maxMessageSize: 1_000 } }))
        const results = await outcomes(app, [0], (peer) => {
          peer.wire.send(Buffer.from([0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]))
        })
        assert.deepEqual(results, [1009])
      },
    )

    test('maxMessageSize: of the route, and after decompression', kit.needs('socket-faults'), async () => {
      const app = counting(kit.app(), { maxMessageSize: 100_000, compress: true })
      const offer = { 'sec-websocket-extensions': 'permessage-deflate' }
      const send = (peer: Peer, size: number): void => {
        const deflated = deflateRawSync(Buffer.alloc(size, 'a'), { finishFlush: 2 })
        peer.frame(Opcode.text, deflated.subarray(0, -4), { rsv1: true })
      }
      assert.deepEqual(await outcomes(app, [...around(100_000), 100_000_000], send, offer), [
        'echo',
        'echo',
        1009,
        1009,
      ])
    })

    test('maxMessageSize: the default is 1 MiB', kit.needs('socket-faults'), async () => {
      const app = counting(kit.app())
      const send = (peer: Peer, size: number): void => void peer.send(Buffer.alloc(size))
      assert.deepEqual(await outcomes(app, [1_048_576, 1_048_577], send), ['echo', 1009])
    })

    test('maxFragments', kit.needs('socket-fragments'), async () => {
      const app = counting(kit.app({ limits: { maxFragments: 10 } }))
      const results = await outcomes(app, around(10), (peer, count) => {
        for (let at = 0; at < count; at++)
          peer.frame(at === 0 ? Opcode.text : Opcode.continuation, 'a', { fin: at === count - 1 })
      })
      assert.deepEqual(results, ['echo', 'echo', 1009])
    })

    test('maxFragments: empty frames count, too', kit.needs('socket-fragments'), async () => {
      const app = counting(kit.app())
      const results = await outcomes(app, [100_000], (peer, count) => {
        peer.wire.socket.on('error', () => {})
        peer.frame(Opcode.text, '', { fin: false })
        const empty = Buffer.concat(Array.from({ length: count }, () => Buffer.from([0, 0x80, 1, 2, 3, 4])))
        peer.wire.send(empty)
      })
      assert.deepEqual(results, [1009])
    })

    test('maxTopics: subscribe throws past it', async () => {
      const app = kit.app({ limits: { maxTopics: 3 } })
      const codes: unknown[] = []
      app.ws('/', {
        open(ws) {
          const subscribe = (topic: string): void => {
            try {
              ws.subscribe(topic)
              codes.push('fine')
            } catch (error) {
              codes.push((error as VolantError).code)
            }
          }
          for (const topic of ['a', 'b', 'c', 'c', 'd']) subscribe(topic)
          ws.unsubscribe('a')
          subscribe('d')
          ws.send(ws.topics.join(''))
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        assert.equal(await peer.text(), 'bcd')
      })
      assert.deepEqual(codes, ['fine', 'fine', 'fine', 'fine', 'E_SOCKET_TOPIC', 'fine'])
    })

    test('maxSocketsPerAddress: 429, until one is closed', async () => {
      const app = kit.app({ limits: { maxSocketsPerAddress: 2 }, trustProxy: 'loopback' })
      app.ws('/:way', {
        upgrade: (ctx) => (ctx.params['way'] === 'no' ? ctx.text('no', 403) : undefined),
        open: (ws) => ws.send(ws.ip),
      })
      await kit.serve(app, async (live) => {
        const from = (address: string) => ({ 'x-forwarded-for': address })
        const status = async (path: string, address: string): Promise<number> => {
          const headers = { ...handshake, ...from(address), connection: 'upgrade, close' }
          return (await live.ask(path, { headers })).status
        }
        const first = await Peer.open(live, '/a', from('192.0.2.1'))
        assert.equal(await status('/no', '192.0.2.1'), 403)
        const second = await Peer.open(live, '/b', from('192.0.2.1'))
        assert.equal(await status('/c', '192.0.2.1'), 429)
        assert.equal(await (await Peer.open(live, '/a', from('192.0.2.2'))).text(), '192.0.2.2')
        await first.text()
        await first.close(1000).closing()
        await eventually(() => app.stats().sockets === 2, 'the end of the first')
        await Peer.open(live, '/a', from('192.0.2.1'))
        assert.equal(await status('/a', '192.0.2.1'), 429)
        second.wire.reset()
        await eventually(() => app.stats().sockets === 2, 'the end of the second')
        // A client of IPv6 has 64 bits for itself.
        await Peer.open(live, '/a', from('2001:db8:1:2::1'))
        await Peer.open(live, '/a', from('2001:db8:1:2:ffff::2'))
        assert.equal(await status('/a', '2001:db8:1:2:3:4:5:6'), 429)
        await Peer.open(live, '/a', from('2001:db8:1:3::1'))
      })
    })

    test('socketIdleTimeout: a ping after half of it, and a reset without any frame', async () => {
      /** Gives whether the silent one is asked and reset, and the client that answers outlives it. */
      const outlives = async (socketIdleTimeout: number): Promise<boolean> => {
        const app = kit.app({ limits: { socketIdleTimeout } })
        const ends: string[] = []
        app.ws('/:name', {
          upgrade: (ctx) => ctx.params.name,
          open: (ws) => ws.send('ready'),
          close: (ws, code) => void ends.push(`${ws.data} ${code}`),
        })
        let answers = 0
        let isAsked = false
        await kit.serve(app, async (live) => {
          const silent = await Peer.open(live, '/silent')
          const alive = await Peer.open(live, '/alive')
          assert.equal(await silent.text(), 'ready')
          assert.equal(await alive.text(), 'ready')
          while (answers < 3 && !ends.some((end) => end.startsWith('alive'))) {
            const ping = await alive.next().catch(() => null)
            if (ping === null) break
            assert.equal(ping.opcode, Opcode.ping)
            alive.frame(Opcode.pong, ping.payload)
            answers++
          }
          isAsked = await silent.next().then(
            ({ opcode }) => opcode === Opcode.ping,
            () => false,
          )
          await eventually(() => ends.includes('silent 1006'), 'the end of the silent one')
          if (ends.length === 1) assert.equal(app.stats().sockets, 1)
        })
        return isAsked && answers === 3 && ends[0] === 'silent 1006'
      }
      // Half of a time is what an answer may take: a busy machine may need another attempt with a longer one.
      let outlived = false
      for (const ms of [2_000, 6_000, 18_000]) outlived ||= await outlives(ms)
      assert.ok(outlived)
    })

    test('idleTimeout of a route: 0 is no limit', async () => {
      const app = kit.app({ limits: { socketIdleTimeout: 1_000, keepAliveTimeout: 400 } })
      app.ws('/', { idleTimeout: 0, message: (ws, message) => ws.send(message) })
      const ended = deferred<number>()
      app.ws('/short', { close: (_, code) => ended.resolve(code) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        await Peer.open(live, '/short')
        assert.equal(await ended.promise, 1006)
        assert.equal(await peer.send('still here').text(), 'still here')
      })
    })

    test('send gives false where more than 64 KiB wait, and drain follows', async () => {
      const app = kit.app({ limits: { maxSocketBuffer: 64 * 1_048_576 } })
      const full = deferred<number>()
      const drained = deferred<number>()
      app.ws('/', {
        open(ws) {
          let sent = 0
          // The kernel takes what it has room for; the client does not read.
          while (sent < 2_000 && ws.send('x'.repeat(16_384))) sent++
          full.resolve(ws.bufferedAmount)
        },
        drain: (ws) => drained.resolve(ws.bufferedAmount),
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        peer.wire.socket.pause()
        assert.ok((await full.promise) >= 65_536)
        peer.wire.socket.resume()
        peer.wire.socket.on('data', () => void (peer.wire.received = Buffer.alloc(0)))
        assert.equal(await drained.promise, 0)
      })
    })

    test('maxSocketBuffer: where nothing waits, a longer message is sent', async () => {
      const app = kit.app()
      app.ws('/', {
        maxSocketBuffer: 1_024,
        open: (ws) => void ws.send('a'.repeat(5_000)),
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        assert.equal((await peer.next()).payload.length, 5_000)
      })
    })

    test('maxSocketBuffer: a client that never reads is closed with 1013, and others get everything', async () => {
      const app = kit.app({ limits: { closeTimeout: 300 } })
      const codes: number[] = []
      const ends = deferred<void>()
      app.ws('/', {
        maxSocketBuffer: 200_000,
        open: (ws) => {
          ws.subscribe('t')
          ws.send('ready')
        },
        close(_, code) {
          codes.push(code)
          ends.resolve()
        },
      })
      await kit.serve(app, async (live) => {
        const slow = await Peer.open(live, '/')
        const quick = await Peer.open(live, '/')
        assert.equal(await quick.text(), 'ready')
        assert.equal(await slow.text(), 'ready')
        slow.wire.socket.pause()
        const text = 'x'.repeat(50_000)
        for (let count = 0; codes.length === 0 && count < 2_000; count++) {
          app.publish('t', text)
          assert.equal(await quick.text(), text)
        }
        await ends.promise
        app.publish('t', 'after')
        assert.equal(await quick.text(), 'after')
      })
      assert.equal(codes[0], 1013)
    })

    test("maxSocketBuffer with whenFull: 'drop': messages are dropped and counted, and it stays open", async () => {
      const app = kit.app()
      let dropped = 0
      app.ws('/', {
        maxSocketBuffer: 200_000,
        whenFull: 'drop',
        open: (ws) => {
          ws.subscribe('t')
          ws.send('ready')
        },
        dropped: (_, count) => void (dropped += count),
      })
      await kit.serve(app, async (live) => {
        const slow = await Peer.open(live, '/')
        assert.equal(await slow.text(), 'ready')
        slow.wire.socket.pause()
        const sent = 1_000
        const text = 'x'.repeat(50_000)
        for (let count = 0; count < sent; count++) app.publish('t', text)
        await eventually(() => dropped > 0, 'a dropped message')
        slow.wire.socket.resume()
        let got = 0
        for (;;) {
          // The hook may be told of some that were dropped while others arrive.
          await eventually(() => slow.wire.received.length > 0 || got + dropped === sent, 'the next message')
          if (got + dropped === sent) break
          assert.equal((await slow.text()).length, 50_000)
          got++
        }
        assert.ok(got > 0)
        app.publish('t', 'after')
        assert.equal(await slow.text(), 'after')
      })
    })

    test('maxConnections counts WebSockets', { skip: kit.adapter === 'uwebsockets' }, async () => {
      const app = kit.app({ limits: { maxConnections: 2 } })
      app.get('/x', () => 'x')
      app.ws('/', { open: (ws) => ws.send('ready') })
      await kit.serve(app, async (live) => {
        const peers = [await Peer.open(live, '/'), await Peer.open(live, '/')]
        for (const peer of peers) await peer.text()
        await assert.rejects(live.ask('/x'))
        await peers[0]?.close(1000).closing()
        await eventually(() => app.stats().connections === 1, 'room')
        assert.equal((await live.ask('/x')).text, 'x')
      })
    })
  })
}
