import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit } from '../../kit.ts'
import { Peer } from '../../peer.ts'

/** How much may wait for a client that reads slowly. */
export function socketBuffers(kit: Kit): void {
  describe('limits of WebSockets', () => {
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
      const app = kit.app({ limits: { closeTimeout: 100 } })
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
  })
}
