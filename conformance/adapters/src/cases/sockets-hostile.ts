import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import type { Socket } from 'node:net'
import type { App } from 'volant'
import { eventually, type Kit, type Live, request } from '../kit.ts'
import { frame, handshake, Opcode, Peer } from '../peer.ts'

/** Clients that mean harm, byte by byte: what becomes of each, and that its neighbour is served all the while. */
export function hostileSockets(kit: Kit): void {
  /** An app that sends back what it gets, and counts. */
  class Echo {
    readonly app: App
    messages = 0
    readonly ends: number[] = []

    constructor(limits: object = {}, route: object = {}) {
      this.app = kit.app({ limits })
      this.app.ws('/', {
        ...route,
        message: (ws, message) => {
          this.messages++
          ws.send(message)
        },
        close: (_, code) => void this.ends.push(code),
      })
    }

    /** Has `run` attack, with a neighbour that has to be answered before, meanwhile (by `alive`) and after. */
    async under(run: (live: Live, alive: () => Promise<void>) => Promise<void>): Promise<void> {
      await kit.serve(this.app, async (live) => {
        kit.reports.length = 0
        const neighbour = await Peer.open(live, '/')
        let asked = 0
        const alive = async (): Promise<void> => {
          const text = `${asked++}`
          this.messages--
          assert.equal(await neighbour.send(text).text(), text)
        }
        await alive()
        await run(live, alive)
        await alive()
        assert.deepEqual(kit.reports, [])
      })
    }
  }

  /** `payload` as one message in as many frames as it has bytes. */
  function bytewise(payload: Uint8Array): Buffer {
    const last = payload.length - 1
    return Buffer.concat(
      Array.from(payload, (_, at) =>
        frame(at === 0 ? Opcode.text : Opcode.continuation, payload.subarray(at, at + 1), {
          fin: at === last,
        }),
      ),
    )
  }

  describe('hostile clients of WebSockets', () => {
    test('every byte comes alone: nothing changes', async () => {
      const echo = new Echo()
      await echo.under(async (live) => {
        const peer = await Peer.open(live, '/')
        const bytes = Buffer.concat([
          frame(Opcode.text, 'grün'),
          frame(Opcode.ping, 'p'),
          bytewise(Buffer.from('𝄞')),
          frame(Opcode.binary, Buffer.alloc(200, 7)),
          frame(Opcode.close, Buffer.from([0x03, 0xe8])),
        ])
        for (const byte of bytes) {
          peer.wire.send(Buffer.of(byte))
          await new Promise((resolve) => setImmediate(resolve))
        }
        const seen: string[] = []
        for (;;) {
          const { opcode, payload } = await peer.next()
          seen.push(`${opcode} ${payload.toString(opcode === Opcode.text ? 'utf8' : 'hex')}`)
          if (opcode === Opcode.close) break
        }
        assert.deepEqual(seen, ['1 grün', '10 70', '1 𝄞', `2 ${'07'.repeat(200)}`, '8 03e8'])
        await peer.wire.ended()
      })
      assert.deepEqual(echo.ends.slice(0, 1), [1000])
    })

    test('100,000 frames of one byte are one message where the limit allows them', async () => {
      const echo = new Echo({ maxFragments: 100_000 })
      await echo.under(async (live, alive) => {
        const peer = await Peer.open(live, '/')
        const text = 'ab'.repeat(50_000)
        peer.wire.send(bytewise(Buffer.from(text)))
        await alive()
        assert.equal(await peer.text(), text)
      })
      assert.equal(echo.messages, 1)
    })

    test('a compressed GiB ends at the limit, and takes no memory', kit.needs('socket-faults'), async () => {
      // Whole blocks of a MiB of zeros, each with the tail that ends it.
      const block = deflateRawSync(Buffer.alloc(1_048_576), { finishFlush: 2 })
      const bomb = Buffer.concat(Array.from({ length: 1_024 }, () => block))
      const echo = new Echo({ maxMessageSize: 8 * 1_048_576 }, { compress: true })
      await echo.under(async (live, alive) => {
        const headers = { 'sec-websocket-extensions': 'permessage-deflate' }
        const peer = await Peer.open(live, '/', headers)
        const before = process.resourceUsage().maxRSS
        peer.frame(Opcode.binary, bomb.subarray(0, -4), { rsv1: true })
        await alive()
        assert.equal((await peer.closing())[0], 1009)
        const grown = process.resourceUsage().maxRSS - before
        assert.ok(grown < 131_072, `${grown} KiB`)
      })
      assert.equal(echo.messages, 0)
    })

    test(
      'what is no DEFLATE, or was cut short, is 1007; reserved bits elsewhere are 1002',
      kit.needs('socket-faults'),
      async () => {
        const echo = new Echo({}, { compress: true })
        const hello = deflateRawSync('hello', { finishFlush: 2 }).subarray(0, -4)
        const cases: [number, (peer: Peer) => unknown][] = [
          [1007, (peer) => peer.frame(Opcode.text, Buffer.from([7]), { rsv1: true })],
          [1007, (peer) => peer.frame(Opcode.text, Buffer.alloc(40, 255), { rsv1: true })],
          [1002, (peer) => peer.frame(Opcode.ping, '', { rsv1: true })],
          [
            1002,
            (peer) =>
              peer
                .frame(Opcode.text, hello.subarray(0, 3), { rsv1: true, fin: false })
                .frame(Opcode.continuation, hello.subarray(3), { rsv1: true }),
          ],
        ]
        await echo.under(async (live, alive) => {
          for (const [code, attack] of cases) {
            const peer = await Peer.open(live, '/', { 'sec-websocket-extensions': 'permessage-deflate' })
            attack(peer)
            assert.equal((await peer.closing())[0], code)
            await alive()
          }
        })
        assert.equal(echo.messages, 0)
      },
    )

    test(
      'lengths that are not the shortest, or have the topmost bit, are refused',
      kit.needs('socket-faults'),
      async () => {
        const echo = new Echo()
        const heads = [
          [0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0],
          [0x82, 0xff, 255, 255, 255, 255, 255, 255, 255, 255],
          [0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255],
        ]
        await echo.under(async (live, alive) => {
          for (const head of heads) {
            const peer = await Peer.open(live, '/')
            peer.wire.send(Buffer.from([...head, 1, 2, 3, 4]))
            const [code] = await peer.closing()
            assert.ok(code === 1002 || code === 1009, `${code}`)
            await alive()
          }
        })
        assert.equal(echo.messages, 0)
      },
    )

    test('what answers a message goes before the end that came with it', async () => {
      const ends: [number, Buffer][] = [
        [1000, frame(Opcode.close, Buffer.from([0x03, 0xe8]))],
        ...(kit.can('socket-faults')
          ? [
              [1002, frame(3, '')] as [number, Buffer],
              [1007, frame(Opcode.text, Buffer.of(0xff))] as [number, Buffer],
            ]
          : []),
      ]
      const echo = new Echo()
      await echo.under(async (live) => {
        for (const [code, end] of ends) {
          const peer = await Peer.open(live, '/')
          peer.wire.send(Buffer.concat([frame(Opcode.text, 'last'), end, frame(Opcode.text, 'behind')]))
          assert.equal(await peer.text(), 'last')
          assert.equal((await peer.closing())[0], code)
        }
      })
      assert.equal(echo.messages, ends.length)
    })

    test('messages behind a close frame are not heard', async () => {
      const echo = new Echo()
      await echo.under(async (live, alive) => {
        const peer = await Peer.open(live, '/')
        peer.wire.socket.on('error', () => {})
        peer.close(1000)
        for (let count = 0; count < 100; count++) peer.send('late')
        await alive()
        assert.equal((await peer.closing())[0], 1000)
        await peer.wire.closed
      })
      assert.equal(echo.messages, 0)
    })

    test('500 WebSockets close at once, and each gets its code', async () => {
      const echo = new Echo({ maxConnections: 1_000 })
      await echo.under(async (live, alive) => {
        const peers = await Promise.all(Array.from({ length: 500 }, () => Peer.open(live, '/')))
        for (const [at, peer] of peers.entries()) peer.close(4_000 + at)
        await alive()
        const codes = await Promise.all(peers.map(async (peer) => (await peer.closing())[0]))
        assert.deepEqual(
          codes,
          peers.map((_, at) => 4_000 + at),
        )
        await Promise.all(peers.map((peer) => peer.wire.ended()))
        await eventually(() => echo.app.stats().sockets === 1, 'the end of all')
      })
      assert.equal(echo.ends.length, 501)
    })

    test('500 WebSockets are reset at once', async () => {
      const echo = new Echo({ maxConnections: 1_000 })
      await echo.under(async (live, alive) => {
        const peers = await Promise.all(Array.from({ length: 500 }, () => Peer.open(live, '/')))
        for (const peer of peers) peer.wire.reset()
        await alive()
        await eventually(() => echo.app.stats().sockets === 1, 'the end of all')
      })
      assert.deepEqual(echo.ends.slice(0, 500), Array(500).fill(1006))
    })

    test(
      'a client that sends pings and does not read waits, and gets each pong when it reads',
      kit.needs('socket-floods'),
      async () => {
        const echo = new Echo()
        await echo.under(async (live, alive) => {
          const peer = await Peer.open(live, '/')
          const pings = Array(8_000).fill(frame(Opcode.ping, Buffer.alloc(125)))
          const parts = await flood(peer, Buffer.concat(pings), alive)
          await receives(peer, parts * 8_000 * 127)
        })
      },
    )

    test(
      'a client that does not read its echoes waits, and gets each when it reads',
      kit.needs('socket-floods'),
      async () => {
        const echo = new Echo({ maxSocketBuffer: 200_000 })
        await echo.under(async (live, alive) => {
          const peer = await Peer.open(live, '/')
          const messages = Array(10).fill(frame(Opcode.binary, Buffer.alloc(100_000)))
          const parts = await flood(peer, Buffer.concat(messages), alive)
          await receives(peer, parts * 10 * 100_010)
        })
      },
    )

    test(
      'bytes behind an upgrade that is refused are no frames',
      kit.needs('socket-early-frames'),
      async () => {
        const app = kit.app()
        app.ws('/', { upgrade: (ctx) => ctx.text('no', 403), message: () => assert.fail('a message came') })
        app.get('/next', () => 'next')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(Buffer.concat([request('GET', '/', handshake), frame(Opcode.text, 'hello')]))
          const { status } = await wire.reply()
          assert.equal(status, 403)
          wire.close()
          assert.equal((await live.ask('/next')).text, 'next')
        })
      },
    )
  })
}

/** Sends `part`, about a MB, without reading, until the server takes no more; gives how often. */
async function flood(peer: Peer, part: Buffer, alive: () => Promise<void>): Promise<number> {
  const { socket } = peer.wire
  socket.pause()
  // It is more than kernels and streams hold in both directions.
  for (let parts = 1; parts < 64; parts++) {
    const isTaken = socket.write(part) || (await drains(socket))
    await alive()
    if (!isTaken) return parts
  }
  assert.fail('the server took all of it')
}

/** Reads again, until so many bytes have come. */
async function receives(peer: Peer, bytes: number): Promise<void> {
  const { socket } = peer.wire
  let received = 0
  socket.on('data', (chunk: Buffer) => {
    received += chunk.length
    peer.wire.received = Buffer.alloc(0)
  })
  socket.resume()
  await eventually(() => received >= bytes || socket.destroyed, 'the rest')
  assert.equal(received, bytes)
}

/** Gives whether a socket takes what waits within two seconds. */
function drains(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      socket.off('drain', drained)
      resolve(false)
    }, 2_000)
    const drained = (): void => {
      clearTimeout(timer)
      resolve(true)
    }
    socket.once('drain', drained)
  })
}
