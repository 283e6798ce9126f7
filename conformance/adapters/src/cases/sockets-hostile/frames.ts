import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { type Kit, request } from '../../kit.ts'
import { frame, handshake, Opcode, Peer } from '../../peer.ts'
import { Echo } from './echo.ts'

/** Frames that mean harm, byte by byte: what becomes of each, and that a neighbour is served all the while. */
export function hostileFrames(kit: Kit): void {
  describe('hostile clients of WebSockets', () => {
    test('every byte comes alone: nothing changes', async () => {
      const echo = new Echo(kit)
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
      const echo = new Echo(kit, { maxFragments: 100_000 })
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
      const echo = new Echo(kit, { maxMessageSize: 8 * 1_048_576 }, { compress: true })
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
        const echo = new Echo(kit, {}, { compress: true })
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
        const echo = new Echo(kit)
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
      const echo = new Echo(kit)
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
      const echo = new Echo(kit)
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
