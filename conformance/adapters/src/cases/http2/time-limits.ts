import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect as connectPlain, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Call } from '../../call.ts'
import { getFrame, goawayFrame, openRaw } from '../../http2-raw.ts'
import { eventually, type Kit, readSlowly, within } from '../../kit.ts'
import { type Http2Server } from './server.ts'

export function http2TimeLimitsOf(kit: Kit, server: Http2Server): void {
  test('a connection over a Unix socket that says nothing is ended, and the app goes on', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'volant-'))
    const app = kit.app({ limits: { headersTimeout: 300, tlsHandshakeTimeout: 300 } })
    try {
      const { path } = await app.listen({ path: join(folder, 'app.sock'), ...server.options() })
      const silent = connectPlain(path as string)
        .on('error', () => {})
        .resume()
      await within(once(silent, 'close'), 30_000, 'the end of the connection')
      await eventually(() => app.stats().connections === 0, 'no connection')
    } finally {
      await app.close()
      rmSync(folder, { recursive: true })
    }
  })

  for (const [when, limits, kilobytes] of [
    ['is past drainLimit', { drainLimit: 1_024 }, 64],
    ['takes longer than drainTimeout', { drainTimeout: 100 }, 1],
  ] as const) {
    test(`a reply is complete, with its trailers, where the unread body ${when}`, async () => {
      const app = kit.app({ limits })
      app.post('/short', { bodyMode: 'stream' }, (ctx) => ctx.trailer('x-a', '1').stream(['short']))
      app.post('/long', { bodyMode: 'stream' }, (ctx) => ctx.trailer('x-a', '1').text('x'.repeat(2_000_000)))
      await server.serve(app, async (_client, address) => {
        for (const [path, length] of [
          ['/short', 5],
          ['/long', 2_000_000],
        ] as const) {
          const call = Call.open(address, '2', path)
          call.write(Buffer.alloc(kilobytes * 1_024))
          await call.head()
          // The window of the client has no room for more until the reply is read.
          await sleep(400)
          const { text, trailers } = await call.whole()
          assert.deepEqual([text.length, trailers], [length, { 'x-a': '1' }])
        }
      })
    })
  }

  test('the connection of a client that never ends it is ended: by its GOAWAY, and by http2IdleTimeout', async () => {
    const app = kit.app({ limits: { http2IdleTimeout: 1_000, drainTimeout: 300 } })
    app.get('/', () => 'fine')
    const address = await app.listen({ port: 0, host: '127.0.0.1', ...server.options() })
    const clients: Socket[] = []
    try {
      for (const says of [goawayFrame(), Buffer.alloc(0)]) {
        const client = await openRaw(address)
        clients.push(client)
        client.resume()
        client.write(Buffer.concat([getFrame(1, '/', server.isEncrypted), says]))
      }
      await eventually(() => app.stats().requests === 2, 'two requests')
      await eventually(() => app.stats().connections === 0, 'the end of the connections')
    } finally {
      for (const client of clients) client.destroy()
      await app.close()
    }
  })

  test('a client with wide windows that does not read is cut off after sendTimeout', async () => {
    const app = kit.app({ limits: { sendTimeout: 300, drainTimeout: 300 } })
    app.get('/', function* () {
      for (;;) yield Buffer.alloc(65_536)
    })
    const address = await app.listen({ port: 0, host: '127.0.0.1', ...server.options() })
    const client = await openRaw(address)
    try {
      client.pause()
      client.write(getFrame(1, '/', server.isEncrypted))
      await eventually(() => app.stats().inFlight === 1, 'the request')
      await eventually(() => app.stats().connections === 0, 'the end of the connection')
    } finally {
      client.destroy()
      await app.close()
    }
  })

  test('sendTimeout leaves a client alone that reads slowly but steadily', async () => {
    const long = Buffer.alloc(24_000_000)
    let isWhole = false
    // A client that stands still for once is late: then one that reads more slowly has a longer time.
    for (const sendTimeout of [1_000, 4_000, 16_000]) {
      const app = kit.app({ limits: { sendTimeout } })
      app.get('/', () => long)
      const address = await app.listen({ port: 0, host: '127.0.0.1', ...server.options() })
      const client = await openRaw(address)
      try {
        client.write(getFrame(1, '/', server.isEncrypted))
        isWhole = await readSlowly(client, long.length, sendTimeout / 100)
      } finally {
        client.destroy()
        await app.close()
      }
      if (isWhole) break
    }
    assert.ok(isWhole, 'the whole reply')
  })

  test('replies that wait for a slow client are no resets', async () => {
    const app = kit.app({ limits: { maxStreamResets: 1, keepAliveTimeout: 1_000 } })
    const reply = Buffer.alloc(65_536)
    app.get('/', () => reply)
    const address = await app.listen({ port: 0, host: '127.0.0.1', ...server.options() })
    const client = await openRaw(address)
    client.pause()
    try {
      const streams = Array.from({ length: 90 }, (_, at) => 2 * at + 1)
      for (const stream of streams) client.write(getFrame(stream, '/', server.isEncrypted))
      await eventually(() => app.stats().requests > 20, 'the requests')
      // This is longer than the interval at which the server checks its connections.
      await sleep(400)
      assert.ok(await readSlowly(client, streams.length * reply.length), 'all replies')
    } finally {
      client.destroy()
      await app.close()
    }
  })
}
