import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Socket } from 'node:net'
import { eventually, type Kit, turns } from '../../kit.ts'
import { frame, Opcode, Peer } from '../../peer.ts'
import { Echo } from './echo.ts'

/** Many clients at once, and clients that do not read, beside a neighbour that is served all the while. */
export function socketFloods(kit: Kit): void {
  describe('hostile clients of WebSockets', () => {
    test('500 WebSockets close at once, and each gets its code', async () => {
      const echo = new Echo(kit, { maxConnections: 1_000 })
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
      const echo = new Echo(kit, { maxConnections: 1_000 })
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
        const echo = new Echo(kit)
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
        const echo = new Echo(kit, { maxSocketBuffer: 200_000 })
        await echo.under(async (live, alive) => {
          const peer = await Peer.open(live, '/')
          const messages = Array(10).fill(frame(Opcode.binary, Buffer.alloc(100_000)))
          const parts = await flood(peer, Buffer.concat(messages), alive)
          await receives(peer, parts * 10 * 100_010)
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

/** Gives whether a socket takes what waits; where it does not in all these turns, the server does not read. */
async function drains(socket: Socket): Promise<boolean> {
  let isDrained = false
  socket.once('drain', () => {
    isDrained = true
  })
  for (let looks = 0; looks < 400 && !isDrained; looks++) await turns(1)
  return isDrained
}
