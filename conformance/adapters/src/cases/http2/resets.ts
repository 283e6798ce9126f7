import assert from 'node:assert/strict'
import { constants } from 'node:http2'
import { test } from 'node:test'
import { reset } from '@volant/test-kit/http2-frames'
import { getFrame, openRaw } from '../../http2-raw.ts'
import { eventually, type Kit } from '../../kit.ts'
import { type Http2Server } from './server.ts'

export function http2Resets(kit: Kit, server: Http2Server): void {
  test('a client that resets its streams without end is cut off', async () => {
    const app = kit.app({ limits: { maxStreamResets: 20 } })
    let handled = 0
    app.get('/', async (ctx) => {
      handled++
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
    })
    await server.serve(app, async (client) => {
      await eventually(() => {
        // The client of node:http2 may not notice meanwhile that the connection has ended.
        if (handled > 0 && app.stats().connections === 0) return true
        for (let each = 0; each < 20 && !client.destroyed && !client.closed; each++)
          client
            .request({})
            .on('error', () => {})
            .close(constants.NGHTTP2_CANCEL)
        return false
      }, 'the end of the connection')
      assert.ok(handled < 500, `${handled} handlers`)
    })
  })

  test('a client that has no window for replies and resets with NO_ERROR is cut off', async () => {
    const app = kit.app({ limits: { maxStreamResets: 20, maxStreams: 10 } })
    let handled = 0
    app.get('/', () => `handled ${++handled}`)
    const address = await app.listen({ port: 0, host: '127.0.0.1', ...server.options() })
    const client = await openRaw(address, 0)
    client.resume()
    let stream = 1
    try {
      await eventually(() => {
        if (handled > 0 && app.stats().connections === 0) return true
        for (let each = 0; each < 20 && client.writable; each++, stream += 2)
          client.write(
            Buffer.concat([
              getFrame(stream, '/', server.isEncrypted),
              reset(stream, constants.NGHTTP2_NO_ERROR),
            ]),
          )
        return false
      }, 'the end of the connection')
      // A few reads of the connection can bring this many requests.
      assert.ok(handled < 10_000, `${handled} handlers`)
    } finally {
      client.destroy()
      await app.close()
    }
  })
}
