import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { deferred, eventually, type Kit, request, within } from '../kit.ts'
import { closePayload, handshake, Opcode, Peer } from '../peer.ts'

/** The longest time that `closeTimeout` can give a client to answer, in ms: a busy machine is slow. */
const patient = 60_000
/** Longer than any case waits on any machine, in ms (`Patience`). */
const long = 600_000

/** How WebSockets end: by either side, by a fault of the client, and when the app closes. */
export function socketCloses(kit: Kit): void {
  /** Opens a WebSocket, has `run` end it, and gives what the hook close got. */
  async function endOf(run: (peer: Peer) => unknown, options: object = {}): Promise<[number, string]> {
    const app = kit.app({ limits: { closeTimeout: patient } })
    const closed = deferred<[number, string]>()
    let count = 0
    app.ws('/', {
      ...options,
      close(_, code, reason) {
        count++
        closed.resolve([code, reason])
      },
    })
    let end: [number, string] | undefined
    await kit.serve(app, async (live) => {
      const peer = await Peer.open(live, '/')
      await run(peer)
      end = await closed.promise
      await eventually(() => app.stats().sockets === 0, 'the end of the WebSocket')
    })
    assert.equal(count, 1)
    return end as [number, string]
  }

  describe('the end of a WebSocket', () => {
    test('the client closes: it gets its code back', async () => {
      const rare = kit.can('socket-codes') ? [1014, 3000, 3999] : []
      for (const code of [1000, 1001, 1003, 1007, 1011, ...rare, 4000, 4999]) {
        const end = await endOf(async (peer) => {
          assert.equal((await peer.close(code, 'é').closing())[0], code)
          await peer.wire.ended()
        })
        assert.deepEqual(end, [code, 'é'])
      }
    })

    test('a close frame without a code is 1005', async () => {
      const end = await endOf(async (peer) => {
        assert.equal((await peer.close().closing())[0], 1005)
        await peer.wire.ended()
      })
      assert.deepEqual(end, [1005, ''])
    })

    test('a client that is gone, with or without an end, is 1006', async () => {
      assert.deepEqual(await endOf((peer) => peer.wire.reset()), [1006, ''])
      assert.deepEqual(await endOf((peer) => peer.wire.socket.end()), [1006, ''])
    })

    test('the server closes: code and reason are told, and the client answers', async () => {
      const end = await endOf(
        async (peer) => {
          assert.deepEqual(await peer.send('x').closing(), [3999, 'enough'])
          peer.send('ignored').close(3999)
          await peer.wire.ended()
        },
        {
          message(ws: {
            close(code: number, reason: string): void
            send(text: string): boolean
            readyState: number
          }) {
            ws.close(3999, 'enough')
            ws.close(1000, 'again')
            assert.equal(ws.readyState, 2)
            assert.equal(ws.send('x'), false)
          },
        },
      )
      assert.deepEqual(end, [3999, 'enough'])
    })

    test('close is 1000 by itself', async () => {
      const end = await endOf(async (peer) => assert.deepEqual(await peer.closed(), [1000, '']), {
        open: (ws: { close(): void }) => ws.close(),
      })
      assert.deepEqual(end, [1000, ''])
    })

    test('terminate ends it at once, with 1006', async () => {
      const end = await endOf((peer) => peer.send('x').wire.ended(), {
        message(ws: { terminate(): void; close(): void }) {
          ws.terminate()
          ws.terminate()
          ws.close()
        },
      })
      assert.deepEqual(end, [1006, ''])
    })

    test('what was sent before the close arrives', async () => {
      const text = 'a'.repeat(200_000)
      await endOf(
        async (peer) => {
          assert.equal(await peer.text(), text)
          await peer.closed()
        },
        {
          open(ws: { send(text: string): boolean; close(): void }) {
            ws.send(text)
            ws.close()
          },
        },
      )
    })

    test('a reason with half a surrogate pair is sent as valid UTF-8', async () => {
      await endOf(async (peer) => assert.deepEqual(await peer.closed(), [4000, 'a\ufffdb']), {
        open: (ws: { close(code: number, reason: string): void }) => ws.close(4000, 'a\ud800b'),
      })
    })

    test('codes and reasons that no frame can have are refused', async () => {
      const codes: unknown[] = []
      await endOf((peer) => peer.closed(), {
        open(ws: { close(code?: unknown, reason?: unknown): void }) {
          for (const [code, reason] of [
            [999],
            [1004],
            [1005],
            [1006],
            [1015],
            [2999],
            [5000],
            [1000.5],
            ['1000'],
            [1000, 'é'.repeat(62)],
            [1000, 1],
          ]) {
            try {
              ws.close(code, reason)
            } catch (error) {
              codes.push((error as VolantError).code)
            }
          }
          ws.close(1000, 'é'.repeat(61))
        },
      })
      assert.deepEqual(codes, Array(11).fill('E_SOCKET_CLOSE'))
    })

    const faults: [string, (peer: Peer) => unknown, number][] = [
      ['a frame that is not masked', (peer) => peer.frame(Opcode.text, 'a', { masked: false }), 1002],
      ['a reserved bit without compression', (peer) => peer.frame(Opcode.text, 'a', { rsv1: true }), 1002],
      ['an opcode that does not exist', (peer) => peer.frame(3, 'a'), 1002],
      ['a continuation of nothing', (peer) => peer.frame(Opcode.continuation, 'a'), 1002],
      [
        'a message within another',
        (peer) => peer.frame(Opcode.text, 'a', { fin: false }).frame(Opcode.text, 'b'),
        1002,
      ],
      ['a ping in pieces', (peer) => peer.frame(Opcode.ping, 'a', { fin: false }), 1002],
      ['a ping of 126 bytes', (peer) => peer.frame(Opcode.ping, 'a'.repeat(126)), 1002],
      ['a close frame of one byte', (peer) => peer.frame(Opcode.close, 'a'), 1002],
      ['a code that is never sent', (peer) => peer.frame(Opcode.close, closePayload(1006)), 1002],
      ['text that is not UTF-8', (peer) => peer.frame(Opcode.text, Buffer.from([0xc3, 0x28])), 1007],
      [
        'a reason that is not UTF-8',
        (peer) => peer.frame(Opcode.close, Buffer.from([0x03, 0xe8, 0xff])),
        1007,
      ],
    ]
    for (const [name, run, code] of faults) {
      test(`${name} is ${code}`, kit.needs('socket-faults'), async () => {
        let messages = 0
        const end = await endOf(
          async (peer) => {
            await run(peer)
            assert.equal((await peer.closing())[0], code)
            peer.wire.close()
          },
          { message: () => void messages++ },
        )
        assert.deepEqual([end[0], messages], [code, 0])
      })
    }

    test('the app closes: 1001 at once, and close runs before onClose', async () => {
      const app = kit.app({ limits: { drainIdle: long, shutdownTimeout: long } })
      const order: string[] = []
      app.ws('/', {
        open: (ws) => ws.send('ready'),
        close: (_, code) => void order.push(`close ${code}`),
      })
      app.onClose(() => void order.push('onClose'))
      await kit.serve(app, async (live) => {
        const peers = [await Peer.open(live, '/'), await Peer.open(live, '/')]
        for (const peer of peers) assert.equal(await peer.text(), 'ready')
        const closed = app.close({ drainIdle: 0 })
        for (const peer of peers) assert.equal((await peer.closed())[0], 1001)
        await within(closed, 'the close')
      })
      assert.deepEqual(order, ['close 1001', 'close 1001', 'onClose'])
    })

    for (const place of ['middleware', 'upgrade']) {
      test(`a request that is in ${place} when the app closes gets no WebSocket`, async () => {
        const app = kit.app({ limits: { shutdownTimeout: long } })
        const entered = deferred<void>()
        const go = deferred<void>()
        let opened = 0
        const wait = (at: string): Promise<void> | undefined => {
          if (at !== place) return undefined
          entered.resolve()
          return go.promise
        }
        app.use(async (_, next) => {
          await wait('middleware')
          await next()
        })
        app.ws('/', { upgrade: () => wait('upgrade'), open: () => void opened++ })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/', handshake))
          await entered.promise
          const closed = app.close()
          go.resolve()
          const reply = await wire.reply()
          assert.deepEqual([reply.status, (reply.json() as { code: string }).code], [503, 'E_SERVER_CLOSING'])
          wire.close()
          await closed
        })
        assert.equal(opened, 0)
      })
    }

    test('counters: sockets, connections, and requests in flight', async () => {
      const app = kit.app()
      app.ws('/', { open: (ws) => ws.send('ready') })
      assert.equal(app.stats().sockets, 0)
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        await peer.text()
        const { sockets, connections, inFlight, requests } = app.stats()
        assert.deepEqual([sockets, connections, inFlight, requests], [1, 1, 0, 1])
        await peer.close(1000).closing()
        await eventually(() => app.stats().connections === 0, 'the end')
        assert.equal(app.stats().sockets, 0)
      })
    })
  })
}
