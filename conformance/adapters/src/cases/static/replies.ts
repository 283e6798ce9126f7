import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import type { Context, VolantError } from 'volant'
import type { Kit } from '../../kit.ts'
import { style, large, publicFolder } from './folder.ts'

const modified = 'Thu, 29 Feb 2024 12:34:56 GMT'

/** Files of folders, their header fields, conditions and ranges. */
export function staticReplies(kit: Kit): void {
  describe('static folders', () => {
    const { root, serve } = publicFolder(kit)

    test('a file and its headers, the first time and from memory', async () => {
      await serve(
        (app) => app.static('/assets', root),
        async (live) => {
          for (let times = 0; times < 3; times++) {
            const reply = await live.ask('/assets/css/site.css?v=1')
            assert.equal(reply.status, 200)
            assert.equal(reply.text, style)
            assert.equal(reply.headers['content-type'], 'text/css; charset=utf-8')
            assert.equal(reply.headers['content-length'], String(style.length))
            assert.equal(reply.headers['last-modified'], modified)
            assert.equal(reply.headers['accept-ranges'], 'bytes')
            assert.equal(reply.headers['cache-control'], 'public, max-age=0')
            assert.match(reply.headers['etag'] ?? '', /^"[\w+/]{27}"$/)
            assert.equal(reply.headers['vary'], undefined)
            const head = await live.ask('/assets/css/site.css', { method: 'HEAD' })
            assert.deepEqual({ ...head.headers, date: '' }, { ...reply.headers, date: '' })
            assert.equal((await live.ask('/assets/css/%C3%A4%20b.css')).text, style)
            assert.equal((await live.ask('/assets/styles/site.css')).text, style)
            assert.deepEqual((await live.ask('/assets/nothing.txt')).headers['content-length'], '0')
          }
        },
      )
    })

    test('a large file, and HEAD of it', async () => {
      await serve(
        (app) => app.static('/assets', root),
        async (live) => {
          const replies = await Promise.all(Array.from({ length: 4 }, () => live.ask('/assets/large.bin')))
          for (const reply of replies) {
            assert.ok(reply.body.equals(large))
            assert.match(reply.headers['etag'] ?? '', /^W\//)
          }
          const head = await live.ask('/assets/large.bin', { method: 'HEAD' })
          assert.equal(head.headers['content-length'], String(large.length))
          const part = await live.ask('/assets/large.bin', {
            headers: { range: 'bytes=65535-131072', 'if-range': modified },
          })
          assert.equal(part.status, 206)
          assert.ok(part.body.equals(large.subarray(65_535, 131_073)))
        },
      )
    })

    test('conditions and ranges of a file in memory', async () => {
      await serve(
        (app) => app.static('/', root),
        async (live) => {
          const { headers } = await live.ask('/css/site.css')
          const etag = headers['etag'] ?? ''
          for (let times = 0; times < 2; times++) {
            for (const [given, status, text] of [
              [{ 'if-none-match': etag }, 304, ''],
              [{ 'if-none-match': `W/${etag}` }, 304, ''],
              [{ 'if-modified-since': modified }, 304, ''],
              [{ 'if-match': etag }, 200, style],
              [{ 'if-match': '"x"' }, 412, null],
              [{ 'if-unmodified-since': 'Thu, 29 Feb 2024 12:34:55 GMT' }, 412, null],
              [{ range: 'bytes=0-3' }, 206, 'body'],
              [{ range: 'bytes=0-3', 'if-range': etag }, 206, 'body'],
              [{ range: 'bytes=0-3', 'if-range': modified }, 206, 'body'],
              [{ range: 'bytes=0-3', 'if-range': '"x"' }, 200, style],
              [{ range: 'bytes=0-3,2-5' }, 200, style],
              [{ range: 'bytes=99-' }, 416, null],
            ] as const) {
              const reply = await live.ask('/css/site.css', { headers: given })
              assert.equal(reply.status, status, JSON.stringify(given))
              if (text !== null) assert.equal(reply.text, text)
              if (status === 304) {
                assert.equal(reply.headers['etag'], 'if-none-match' in given ? given['if-none-match'] : etag)
                assert.equal(reply.headers['cache-control'], 'public, max-age=0')
                assert.equal(reply.headers['content-type'], undefined)
              }
            }
          }
        },
      )
    })

    test('index files, and a folder without its slash', async () => {
      await serve(
        (app) => {
          app.static('/', root, { extensions: ['html'] })
          app.static('/none', root, { index: false })
          app.static('/two', root, { index: ['main.html', 'about.html'] })
        },
        async (live) => {
          assert.equal((await live.ask('/')).text, '<h1>index</h1>')
          assert.equal((await live.ask('/docs/')).text, '<h1>docs</h1>')
          const moved = await live.ask('/docs?a=%2F&b')
          assert.deepEqual([moved.status, moved.headers['location'], moved.text], [308, '/docs/?a=%2F&b', ''])
          assert.equal((await live.ask('/about')).text, '<h1>about</h1>')
          assert.equal((await live.ask('/about/')).status, 404)
          assert.equal((await live.ask('/empty')).status, 404)
          assert.equal((await live.ask('/empty/')).status, 404)
          assert.equal((await live.ask('/none')).status, 404)
          assert.equal((await live.ask('/none/')).status, 404)
          assert.equal((await live.ask('/none/docs')).status, 404)
          assert.equal((await live.ask('/none/docs/index.html')).status, 200)
          assert.equal((await live.ask('/two')).headers['location'], '/two/')
          assert.equal((await live.ask('/two/')).text, '<h1>about</h1>')
        },
      )
    })

    test('several ranges are multipart/byteranges', async () => {
      await serve(
        (app) => {
          app.static('/', root)
          app.get('/file', (ctx: Context) => ctx.file(join(root, 'large.bin')))
        },
        async (live) => {
          for (const path of ['/large.bin', '/file']) {
            const reply = await live.ask(path, {
              headers: { range: 'bytes=2000000-2100000, 0-9, -5' },
            })
            assert.equal(reply.status, 206)
            const [, boundary] =
              /^multipart\/byteranges; boundary=(\w+)$/.exec(reply.headers['content-type'] ?? '') ?? []
            assert.equal(reply.headers['content-range'], undefined)
            assert.equal(reply.headers['content-length'], String(reply.body.length))
            const part = (first: number, last: number) =>
              Buffer.concat([
                Buffer.from(
                  `--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-Range: bytes ${first}-${last}/${large.length}\r\n\r\n`,
                ),
                large.subarray(first, last + 1),
                Buffer.from('\r\n'),
              ])
            const size = large.length
            const wanted = [part(2_000_000, 2_100_000), part(0, 9), part(size - 5, size - 1)]
            assert.ok(reply.body.equals(Buffer.concat([...wanted, Buffer.from(`--${boundary}--\r\n`)])))
          }
          const many = Array.from({ length: 1_000 }, (_, at) => `${at}-${at}`).join(',')
          const whole = await live.ask('/large.bin', { headers: { range: `bytes=${many}` } })
          assert.deepEqual([whole.status, whole.body.length], [200, large.length])
          const sixteen = Array.from({ length: 16 }, (_, at) => `${at * 1_000}-${at * 1_000}`).join(',')
          const parts = await live.ask('/large.bin', { headers: { range: `bytes=${sixteen}` } })
          assert.equal(parts.status, 206)
          assert.equal(parts.text.split('Content-Range').length, 17)
        },
      )
    })

    test('headers of its own, and options that leave headers out', async (t) => {
      // Files are looked at again after a second, and so are their headers.
      testClock(t)
      const seen: string[] = []
      await serve(
        (app) => {
          app.static('/own', root, {
            maxAge: 60,
            setHeaders: (headers, file) => {
              seen.push(`${file.path} ${file.size} ${file.modified.toUTCString()}`)
              headers.set('Cross-Origin-Resource-Policy', 'cross-origin')
              headers.delete('last-modified')
              headers.set('content-type', 'text/plain')
            },
          })
          app.static('/bare', root, {
            etag: false,
            lastModified: false,
            acceptRanges: false,
            cacheControl: false,
          })
          app.static('/bad', root, { setHeaders: (headers) => headers.set('connection', 'close') })
          app.static('/read', root, { cache: false })
        },
        async (live) => {
          for (let times = 0; times < 2; times++) {
            const own = await live.ask('/own/css/site.css')
            assert.equal(own.headers['cross-origin-resource-policy'], 'cross-origin')
            assert.equal(own.headers['content-type'], 'text/plain')
            assert.equal(own.headers['cache-control'], 'public, max-age=60')
            assert.equal(own.headers['last-modified'], undefined)
            for (const name of ['/css/site.css', '/large.bin']) {
              const bare = await live.ask(`/bare${name}`, { headers: { range: 'bytes=0-1' } })
              assert.equal(bare.status, 200)
              for (const field of [
                'etag',
                'last-modified',
                'accept-ranges',
                'cache-control',
                'content-range',
              ]) {
                assert.equal(bare.headers[field], undefined, field)
              }
            }
            assert.equal((await live.ask('/bad/css/site.css')).status, 500)
            assert.equal((kit.reports.pop() as VolantError).code, 'E_BAD_HEADER')
            assert.equal((await live.ask('/read/css/site.css')).text, style)
          }
          assert.deepEqual(seen, [`css/site.css ${style.length} ${modified}`])
        },
      )
    })

    test('cookies of setHeaders come beside each other, and beside those of a middleware', async () => {
      await serve(
        (app) => {
          const setHeaders = (headers: Headers): void => {
            headers.append('set-cookie', 'a=1')
            headers.append('set-cookie', 'b=2')
          }
          app.static('/plain', root, { setHeaders })
          app.group('/group', (group) => {
            group.use((ctx, next) => (ctx.append('set-cookie', 'session=3'), next()))
            group.static('/files', root, { setHeaders })
          })
        },
        async (live) => {
          const cookies = async (path: string): Promise<string[]> => {
            const reply = await fetch(live.address.url + path)
            // What a client does not read holds up the close.
            await reply.arrayBuffer()
            return reply.headers.getSetCookie()
          }
          for (const name of ['css/site.css', 'css/site.css', 'large.bin']) {
            assert.deepEqual(await cookies(`/plain/${name}`), ['a=1', 'b=2'], name)
            assert.deepEqual(await cookies(`/group/files/${name}`), ['session=3', 'a=1', 'b=2'], name)
          }
        },
      )
    })

    test('through inject and fetch', async () => {
      const app = kit.app()
      app.static('/', root)
      for (let times = 0; times < 2; times++) {
        const injected = await app.inject('/css/site.css')
        assert.equal(injected.headers['content-type'], 'text/css; charset=utf-8')
        assert.equal(injected.body.toString(), style)
        const response = await app.fetch(new Request('http://x/large.bin'))
        assert.ok(Buffer.from(await response.arrayBuffer()).equals(large))
      }
    })
  })
}
