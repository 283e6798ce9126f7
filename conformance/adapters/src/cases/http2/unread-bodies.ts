import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Address, App, LimitOptions } from 'volant'
import { Call } from '../../call.ts'
import { type Kit, turns } from '../../kit.ts'
import type { Http2Server } from './server.ts'

export function http2UnreadBodies(kit: Kit, server: Http2Server): void {
  test('a reply is complete, with its trailers, where the unread body is past drainLimit', async () => {
    await server.serve(replying(kit, { drainLimit: 1_024 }), (_client, address) =>
      completes(address, 64 * 1_024, () => turns(100)),
    )
  })
}

export function http2LateBodies(kit: Kit, server: Http2Server): void {
  test('a reply is complete, with its trailers, where the unread body takes longer than drainTimeout', async (t) => {
    const clock = kit.clock(t)
    const drainTimeout = clock.isHeld ? 5_000 : 100
    await server.serve(replying(kit, { drainTimeout }), (_client, address) =>
      completes(address, 1_024, async () => {
        await turns(100)
        await clock.advance(clock.isHeld ? drainTimeout : 400)
      }),
    )
  })
}

function replying(kit: Kit, limits: LimitOptions): App {
  const app = kit.app({ limits })
  app.post('/short', { bodyMode: 'stream' }, (ctx) => ctx.trailer('x-a', '1').stream(['short']))
  app.post('/long', { bodyMode: 'stream' }, (ctx) => ctx.trailer('x-a', '1').text('x'.repeat(2_000_000)))
  return app
}

/** Sends a part of a body that nobody reads, and reads the reply after `wait`. */
async function completes(address: Address, bytes: number, wait: () => Promise<void>): Promise<void> {
  for (const [path, length] of [
    ['/short', 5],
    ['/long', 2_000_000],
  ] as const) {
    const call = Call.open(address, '2', path)
    call.write(Buffer.alloc(bytes))
    await call.head()
    // The window of the client has no room for more until the reply is read.
    await wait()
    const { text, trailers } = await call.whole()
    assert.deepEqual([text.length, trailers], [length, { 'x-a': '1' }])
    // A client that still writes keeps its connection, and the close of the app waits for it.
    call.reset()
  }
}
