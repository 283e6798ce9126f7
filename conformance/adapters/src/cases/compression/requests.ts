import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type App, type VolantError } from 'volant'
import { decompress } from 'volant/compress'
import { deferred, type Kit, request } from '../../kit.ts'

/** Compressed replies and requests over sockets. What is compressed, and how, is in packages/volant/test. */
export function compressedRequests(kit: Kit): void {
  describe('decompress', () => {
    const text = JSON.stringify(Array.from({ length: 20_000 }, (_, at) => (at * 7_919) % 100_003))
    const json = 'application/json'
    const gzip = { 'content-encoding': 'gzip' }
    const decompressing = (): App => {
      const app = kit.app({ limits: { maxBodySize: 200_000 } })
      app.use(decompress({ encodings: ['gzip'] }))
      app.post('/body', (ctx) => ctx.body)
      app.post('/checked', { beforeBody: () => {} }, (ctx) => ctx.body)
      app.post('/stream', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
      app.post('/count', { bodyMode: 'stream' }, async (ctx) => {
        let length = 0
        for await (const chunk of ctx.bodyStream) length += chunk.length
        return length
      })
      return app
    }

    test('bodies with a length and in chunks, buffered and streamed', async () => {
      await kit.serve(decompressing(), async (live) => {
        const packed = gzipSync(text)
        for (const path of ['/body', '/checked', '/stream']) {
          assert.equal((await live.post(path, json, packed, gzip)).body.toString(), text, path)
          const wire = await live.connect()
          wire.send(request('POST', path, { ...gzip, 'content-type': json, 'transfer-encoding': 'chunked' }))
          for (let at = 0; at < packed.length; at += 100) {
            const part = packed.subarray(at, at + 100)
            wire.send(
              Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
            )
          }
          const reply = await wire.send('0\r\n\r\n').reply()
          assert.equal(reply.body.toString(), text, path)
        }
      })
    })

    test('bombs are 413, corrupt bodies 400, other codings 415; the connection can be used again or ends', async () => {
      await kit.serve(decompressing(), async (live) => {
        const bomb = gzipSync(Buffer.alloc(5_000_000))
        for (const path of ['/body', '/checked', '/count']) {
          assert.equal((await live.post(path, json, bomb, gzip)).status, 413, path)
          assert.equal((await live.post(path, json, gzipSync(text).subarray(0, -1), gzip)).status, 400, path)
          const other = await live.post(path, json, bomb, { 'content-encoding': 'br' })
          assert.deepEqual([other.status, other.headers['accept-encoding']], [415, 'gzip'], path)
        }
        const most = await live.post('/count', json, randomBytes(200_001), gzip)
        assert.equal(most.status, 413)
        assert.equal((await live.post('/body', json, gzipSync('1'), gzip)).text, '1')
      })
    })

    test('a client that leaves in the middle is told to the reader', async () => {
      const app = decompressing()
      const failed = deferred<unknown>()
      const entered = deferred()
      app.post('/read', { bodyMode: 'stream' }, async (ctx) => {
        entered.resolve()
        try {
          for await (const chunk of ctx.bodyStream) assert.ok(chunk.length > 0)
        } catch (error) {
          failed.resolve(error)
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(
          request('POST', '/read', { ...gzip, 'content-length': '1000' }, gzipSync(text).subarray(0, 50)),
        )
        await entered.promise
        wire.reset()
        assert.equal(((await failed.promise) as VolantError).code, 'E_ABORTED')
      })
    })
  })
}
