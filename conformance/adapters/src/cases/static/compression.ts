import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { compress } from 'volant/compress'
import type { Kit } from '../../kit.ts'
import { script, publicFolder } from './folder.ts'

/** Precompressed copies, and folders behind compress(). */
export function staticCompression(kit: Kit): void {
  describe('static folders', () => {
    const { root, serve } = publicFolder(kit)

    test('precompressed copies by the weights of the client', async () => {
      await serve(
        (app) => app.static('/', root, { precompressed: true }),
        async (live) => {
          for (let times = 0; times < 2; times++) {
            for (const [field, coding] of [
              ['gzip, deflate, br', 'br'],
              ['gzip', 'gzip'],
              ['br;q=0.1, gzip', 'gzip'],
              ['br;q=0, gzip;q=0.5', 'gzip'],
              ['br;q=0', undefined],
              ['zstd', undefined],
              ['identity, gzip;q=0.5', undefined],
              ['*', 'br'],
              ['', undefined],
            ] as const) {
              const reply = await live.ask('/app.js', { headers: { 'accept-encoding': field } })
              assert.equal(reply.status, 200)
              assert.equal(reply.headers['content-encoding'], coding, field)
              assert.equal(reply.headers['vary'], 'accept-encoding')
              assert.equal(reply.headers['content-type'], 'text/javascript; charset=utf-8')
              const plain =
                coding === 'br'
                  ? brotliDecompressSync(reply.body)
                  : coding === 'gzip'
                    ? gunzipSync(reply.body)
                    : reply.body
              assert.equal(plain.toString(), script)
              const again = await live.ask('/app.js', {
                headers: { 'accept-encoding': field, 'if-none-match': reply.headers['etag'] ?? '' },
              })
              assert.deepEqual(
                [again.status, again.headers['vary'], again.headers['content-encoding']],
                [304, 'accept-encoding', undefined],
              )
            }
            assert.equal((await live.ask('/app.js')).headers['content-encoding'], undefined)
            const tags = new Set<string | undefined>()
            for (const field of ['br', 'gzip', 'identity']) {
              tags.add((await live.ask('/app.js', { headers: { 'accept-encoding': field } })).headers['etag'])
            }
            assert.equal(tags.size, 3)
            const old = await live.ask('/old.js', { headers: { 'accept-encoding': 'br' } })
            assert.deepEqual(
              [old.text, old.headers['content-encoding'], old.headers['vary']],
              [script, undefined, undefined],
            )
          }
        },
      )
    })

    test('compress() makes what is sent shorter, from memory too', async () => {
      await serve(
        (app) => {
          app.use(compress())
          app.static('/', root)
          app.static('/made', root, { precompressed: true })
          app.static('/as-is', root, {
            setHeaders: (headers) => headers.set('cache-control', 'no-transform'),
          })
          app.group('/hooked', (group) => {
            group.onSend((_, reply) => reply.headers.set('x-length', reply.length ?? 'unknown'))
            group.static('/', root)
          })
          app.group('/private', (group) => {
            group.use((ctx, next) => {
              ctx.header('cache-control', 'private, no-transform')
              return next()
            })
            group.static('/', root)
          })
        },
        async (live) => {
          const gzip = { 'accept-encoding': 'gzip' }
          const plain = await live.ask('/app.js')
          assert.equal(plain.text, script)
          assert.equal(plain.headers['vary'], 'Accept-Encoding')
          const tag = plain.headers['etag'] as string
          assert.match(tag, /^"/)
          for (let times = 0; times < 3; times++) {
            for (const [field, decode] of [
              ['gzip', gunzipSync],
              ['br', brotliDecompressSync],
            ] as const) {
              const reply = await live.ask('/app.js', { headers: { 'accept-encoding': field } })
              assert.equal(decode(reply.body).toString(), script)
              assert.ok(reply.body.length < script.length)
              assert.equal(reply.headers['content-encoding'], field)
              assert.equal(reply.headers['vary']?.toLowerCase(), 'accept-encoding')
              assert.equal(reply.headers['etag'], `W/${tag}`)
              assert.equal(reply.headers['accept-ranges'], undefined)
              assert.equal(reply.headers['content-length'], String(reply.body.length))
            }
            const head = await live.ask('/app.js', { method: 'HEAD', headers: gzip })
            assert.equal(head.headers['content-encoding'], 'gzip')
            const unchanged = await live.ask('/app.js', {
              headers: { ...gzip, 'if-none-match': `W/${tag}` },
            })
            assert.deepEqual([unchanged.status, unchanged.headers['etag']], [304, `W/${tag}`])
            assert.equal(unchanged.headers['vary']?.toLowerCase(), 'accept-encoding')
            assert.equal(unchanged.headers['content-encoding'], undefined)
            const part = await live.ask('/app.js', { headers: { ...gzip, range: 'bytes=0-5' } })
            assert.deepEqual([part.status, part.text, part.headers['etag']], [206, 'export', tag])
            assert.equal(part.headers['content-encoding'], undefined)
            const coded = await live.ask('/made/app.js', { headers: gzip })
            assert.ok(coded.body.equals(gzipSync(script)))
            assert.match(coded.headers['etag'] ?? '', /^"/)
            const hooked = await live.ask('/hooked/app.js', { headers: gzip })
            assert.equal(hooked.headers['x-length'], String(script.length))
            assert.equal(gunzipSync(hooked.body).toString(), script)
            for (const path of ['/as-is/app.js', '/private/app.js', '/css/site.css', '/large.bin']) {
              const reply = await live.ask(path, { headers: gzip })
              assert.equal(reply.headers['content-encoding'], undefined, path)
            }
          }
        },
      )
    })
  })
}
