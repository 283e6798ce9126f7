import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Kit, request } from '../../kit.ts'
import { compressingOf, gzip, long, textFolder } from './compressing.ts'

/** Compressed replies and requests over sockets. What is compressed, and how, is in packages/volant/test. */
export function compressedReplies(kit: Kit): void {
  describe('compress', () => {
    const compressing = compressingOf(kit)
    const folder = textFolder()

    test('whole bodies, on this thread and another, in the coding that all lines of Accept-Encoding prefer', async () => {
      const app = compressing()
      app.get('/short', () => 'compressible '.repeat(100))
      app.get('/long', () => long)
      await kit.serve(app, async (live) => {
        for (const path of ['/short', '/long']) {
          const text = (await live.ask(path)).text
          const wire = await live.connect()
          wire.send(
            `GET ${path} HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip;q=0.5\r\naccept-encoding: br\r\n\r\n`,
          )
          const { headers, body } = await wire.reply()
          assert.deepEqual(
            [headers['content-encoding'], headers['vary'], headers['content-length']],
            ['br', 'Accept-Encoding', String(body.length)],
          )
          assert.equal(brotliDecompressSync(body).toString(), text)
          wire.send(request('HEAD', path, gzip))
          const head = await wire.reply('HEAD')
          assert.deepEqual(
            [head.status, head.headers['vary'], head.headers['content-length']],
            [200, 'Accept-Encoding', undefined],
          )
          assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
        }
      })
    })

    test('many large bodies at once are all right', async () => {
      const app = compressing()
      const huge = long.repeat(8)
      app.get('/x', () => huge)
      await kit.serve(app, async (live) => {
        const replies = await Promise.all(Array.from({ length: 50 }, () => live.ask('/x', { headers: gzip })))
        assert.ok(replies.some(({ headers }) => headers['content-encoding'] === 'gzip'))
        for (const { headers, body } of replies) {
          const text = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
          assert.equal(text.toString(), huge)
        }
      })
    })

    test('a tag that a compressed reply had is taken back, and 304 has no content', async () => {
      const app = compressing()
      app.get('/x', () => long)
      await kit.serve(app, async (live) => {
        const { headers } = await live.ask('/x', { headers: gzip })
        const tag = headers['etag'] as string
        assert.match(tag, /^W\//)
        const same = await live.ask('/x', { headers: { ...gzip, 'if-none-match': tag } })
        assert.deepEqual(
          [same.status, same.body.length, same.headers['vary'], same.headers['content-encoding']],
          [304, 0, 'Accept-Encoding', undefined],
        )
      })
    })

    test('files are compressed as streams, and parts of them are as they are', async () => {
      const app = compressing()
      app.get('/:name', (ctx) => ctx.file(ctx.params.name, { root: folder }))
      await kit.serve(app, async (live) => {
        for (const name of ['small.txt', 'large.txt']) {
          const { text } = await live.ask(`/${name}`)
          const { headers, body } = await live.ask(`/${name}`, { headers: gzip })
          assert.deepEqual([headers['content-encoding'], headers['accept-ranges']], ['gzip', undefined])
          assert.equal(gunzipSync(body).toString(), text)
          const part = await live.ask(`/${name}`, { headers: { ...gzip, range: 'bytes=10-19' } })
          assert.deepEqual(
            [part.status, part.text, part.headers['content-encoding'], part.headers['vary']],
            [206, text.slice(10, 20), undefined, 'Accept-Encoding'],
          )
          const whole = await live.ask(`/${name}`, {
            headers: { ...gzip, range: 'bytes=10-19', 'if-range': headers['etag'] as string },
          })
          assert.deepEqual([whole.status, gunzipSync(whole.body).toString()], [200, text])
          const same = await live.ask(`/${name}`, {
            headers: { ...gzip, 'if-none-match': headers['etag'] as string },
          })
          assert.deepEqual([same.status, same.headers['vary']], [304, 'Accept-Encoding'])
        }
      })
    })
  })
}
