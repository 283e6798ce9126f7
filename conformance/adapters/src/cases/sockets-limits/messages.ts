import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import type { App } from 'volant'
import type { Kit } from '../../kit.ts'
import { Opcode, Peer } from '../../peer.ts'

/** Sizes of messages and counts of their frames. */
export function messageLimits(kit: Kit): void {
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
  })
}
