import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  appendFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { type App, type Context, securityHeaders, type VolantError } from 'volant'
import { compress } from 'volant/compress'
import { eventually, type Kit, type Live, request } from '../kit.ts'

const style = 'body { color: red }\n'
const written = new Date('2024-02-29T12:34:56.000Z')
const modified = 'Thu, 29 Feb 2024 12:34:56 GMT'

export function staticFolders(kit: Kit): void {
  describe('static folders', () => {
    let folder = ''
    let root = ''
    const large = randomBytes(3_000_001)
    const script = 'export const answer = 42 // '.repeat(100)
    before(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'volant-')))
      root = join(folder, 'public')
      for (const name of ['css', 'docs', 'empty', '.git', '.well-known', 'a.b']) {
        mkdirSync(join(root, name), { recursive: true })
      }
      writeFileSync(join(root, 'index.html'), '<h1>index</h1>')
      writeFileSync(join(root, 'about.html'), '<h1>about</h1>')
      writeFileSync(join(root, 'docs', 'index.html'), '<h1>docs</h1>')
      writeFileSync(join(root, 'a.b', 'index.html'), '<h1>a.b</h1>')
      writeFileSync(join(root, 'css', 'site.css'), style)
      writeFileSync(join(root, 'css', 'ä b.css'), style)
      writeFileSync(join(root, 'nothing.txt'), '')
      writeFileSync(join(root, 'large.bin'), large)
      writeFileSync(join(root, '.env'), 'secret')
      writeFileSync(join(root, '.well-known', 'security.txt'), 'contact')
      writeFileSync(join(folder, 'outside.txt'), 'secret')
      writeFileSync(join(root, 'app.js'), script)
      writeFileSync(join(root, 'app.js.br'), brotliCompressSync(script))
      writeFileSync(join(root, 'app.js.gz'), gzipSync(script))
      writeFileSync(join(root, 'old.js'), script)
      writeFileSync(join(root, 'old.js.br'), 'an older version')
      symlinkSync(join(folder, 'outside.txt'), join(root, 'out.txt'))
      symlinkSync(folder, join(root, 'up'))
      symlinkSync('.env', join(root, 'env.txt'))
      symlinkSync('css', join(root, 'styles'))
      execFileSync('mkfifo', [join(root, 'pipe')])
      for (const name of ['css/site.css', 'large.bin']) utimesSync(join(root, name), written, written)
      utimesSync(join(root, 'old.js.br'), written, written)
    })
    after(() => rmSync(folder, { recursive: true }))

    async function serve(build: (app: App) => void, run: (live: Live) => Promise<void>): Promise<void> {
      const app = kit.app()
      build(app)
      await kit.serve(app, run)
    }

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

    test('what is not served: a dot, a link out, a pipe, a slash too many', async () => {
      await serve(
        (app) => {
          app.static('/', root)
          app.static('/all', root, { dotfiles: 'allow' })
          app.static('/.well-known', join(root, '.well-known'))
        },
        async (live) => {
          for (const path of [
            '/.env',
            '/env.txt',
            '/.git/',
            '/out.txt',
            '/up/outside.txt',
            '/all/out.txt',
            '/all/up/outside.txt',
            '/pipe',
            '/none.txt',
            '/css/site.css/',
            '/css//site.css',
            '//css/site.css',
            '/css%2Fsite.css',
            '/css%5Csite.css',
            '/css/site.css%00',
            '/..%2Foutside.txt',
            `/${'x'.repeat(300)}`,
          ]) {
            const reply = await live.ask(path)
            assert.equal(reply.status, path.includes('%00') ? 400 : 404, path)
            assert.ok(!reply.text.includes('secret'), path)
            assert.ok(!reply.text.includes(folder), path)
          }
          assert.equal((await live.ask('/all/.env')).text, 'secret')
          assert.equal((await live.ask('/all/env.txt')).text, 'secret')
          assert.equal((await live.ask('/.well-known/security.txt')).text, 'contact')
        },
      )
    })

    test('a route wins, whichever comes first; other methods are 405', async () => {
      await serve(
        (app) => {
          app.get('/docs/', () => 'route')
          app.static('/', root)
          app.get('/', () => 'home')
          app.get('/css/:name', (ctx) => `route ${ctx.params.name}`)
          app.post('/app.js', () => 'posted')
        },
        async (live) => {
          assert.equal((await live.ask('/')).text, 'home')
          assert.equal((await live.ask('/docs/')).text, 'route')
          assert.equal((await live.ask('/css/site.css')).text, 'route site.css')
          assert.equal((await live.ask('/app.js')).text, script)
          assert.equal((await live.ask('/app.js', { method: 'POST' })).text, 'posted')
          const refused = await live.ask('/large.bin', { method: 'PUT' })
          assert.equal(refused.status, 405)
          assert.equal(refused.headers['allow'], 'GET, HEAD, OPTIONS')
        },
      )
    })

    test('middleware of the scope runs before it; groups, with, plugins and mounts have folders of their own', async () => {
      const inner = kit.app()
      inner.static('/files', root)
      await serve(
        (app) => {
          app.use(securityHeaders())
          app.group('/a/:tenant', (group) => {
            group.use((ctx, next) => (ctx.params.tenant === 'evil' ? ctx.reply(403) : next()))
            group.static('/f', root)
          })
          app
            .with(async (ctx, next) => {
              ctx.header('x-seen', ctx.path).header('Cache-Control', 'private')
              await next()
            })
            .static('/w', root)
          app.register((scope) => void scope.static('/p', root))
          app.mount('/m', inner)
          app.mount('/n/files', inner)
        },
        async (live) => {
          assert.equal((await live.ask('/a/good/f/css/site.css')).text, style)
          assert.equal((await live.ask('/a/evil/f/css/site.css')).status, 403)
          for (let times = 0; times < 2; times++) {
            const reply = await live.ask('/w/css/site.css')
            assert.equal(reply.headers['x-seen'], '/w/css/site.css')
            assert.equal(reply.headers['cache-control'], 'private')
            assert.equal(reply.headers['x-content-type-options'], 'nosniff')
            assert.equal(reply.text, style)
          }
          for (const path of ['/p/css/site.css', '/m/files/css/site.css', '/n/files/files/css/site.css']) {
            assert.equal((await live.ask(path)).text, style, path)
          }
          assert.equal((await live.ask('/n/files/css/site.css')).status, 404)
          assert.equal((await live.ask('/m/files')).headers['location'], '/m/files/')
        },
      )
    })

    test('hooks see a file, and may change it', async () => {
      await serve(
        (app) => {
          app.onSend((_, reply) => {
            reply.headers.set('x-length', reply.length ?? 'unknown')
            reply.headers.set('x-tag', reply.headers.get('etag') ?? '')
            if (reply.headers.get('content-type')?.startsWith('text/css')) reply.body = 'changed'
          })
          app.static('/', root)
        },
        async (live) => {
          for (let times = 0; times < 2; times++) {
            const small = await live.ask('/css/site.css')
            assert.equal(small.text, 'changed')
            assert.equal(small.headers['x-length'], String(style.length))
            assert.equal(small.headers['x-tag'], small.headers['etag'])
            const big = await live.ask('/large.bin')
            assert.equal(big.headers['x-length'], String(large.length))
            assert.ok(big.body.equals(large))
          }
        },
      )
    })

    test('a file that is not there is answered by onNotFound', async () => {
      await serve(
        (app) => {
          app.static('/', root)
          app.group('/docs', (docs) => {
            docs.static('/', join(root, 'docs'))
            docs.onNotFound((ctx) => ctx.html(`no ${ctx.path}`))
          })
        },
        async (live) => {
          assert.equal((await live.ask('/docs/')).text, '<h1>docs</h1>')
          const reply = await live.ask('/docs/none')
          assert.deepEqual([reply.status, reply.text], [404, 'no /docs/none'])
          assert.equal(((await live.ask('/none')).json() as { code: string }).code, 'E_NOT_FOUND')
        },
      )
    })

    test('the fallback of a single-page app', async () => {
      await serve(
        (app) => {
          app.get('/api/users', () => [])
          app.static('/', root, { fallback: 'index.html', immutable: true })
        },
        async (live) => {
          const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
          for (let times = 0; times < 2; times++) {
            for (const [path, headers, status] of [
              ['/users/7', html, 200],
              ['/users/7/', html, 200],
              ['/v1.2/users', html, 200],
              ['/users/7', {}, 200],
              ['/users/7', { ...html, 'sec-fetch-dest': 'document' }, 200],
              ['/users/7', { ...html, 'sec-fetch-dest': 'empty' }, 404],
              ['/users/7', { ...html, 'sec-fetch-dest': 'script' }, 404],
              ['/users/7', { accept: 'application/json' }, 404],
              ['/users/7', { accept: 'text/html;q=0' }, 404],
              ['/users/me.js', html, 404],
              ['/.env', html, 404],
              ['/users%2F7', html, 404],
              ['/api/users', html, 200],
            ] as [string, Record<string, string>, number][]) {
              const reply = await live.ask(path, { headers })
              assert.equal(reply.status, status, `${path} ${JSON.stringify(headers)}`)
              if (path === '/users/7') assert.equal(reply.headers['vary'], 'accept, sec-fetch-dest')
              if (status === 404 || path === '/api/users') continue
              assert.equal(reply.text, '<h1>index</h1>')
              assert.equal(reply.headers['cache-control'], 'no-cache')
            }
            assert.equal((await live.ask('/users/7', { method: 'HEAD' })).headers['content-length'], '14')
            assert.equal((await live.ask('/users/7', { method: 'POST' })).status, 405)
            assert.equal(
              (await live.ask('/app.js')).headers['cache-control'],
              'public, max-age=31536000, immutable',
            )
            assert.equal((await live.ask('/')).headers['cache-control'], 'public, max-age=0')
          }
        },
      )
    })

    test('a fallback that is too large to be kept, beside a copy that is kept', async () => {
      const page = '<p>'.repeat(30_000)
      writeFileSync(join(root, 'page.html'), page)
      writeFileSync(join(root, 'page.html.br'), brotliCompressSync(page))
      await serve(
        (app) => app.static('/', root, { fallback: 'page.html', precompressed: true }),
        async (live) => {
          for (const coding of ['br', 'identity', 'br', 'identity']) {
            const headers = { accept: 'text/html', 'accept-encoding': coding }
            const reply = await live.ask('/users/7', { headers })
            const text = coding === 'br' ? brotliDecompressSync(reply.body).toString() : reply.text
            assert.ok(reply.status === 200 && text === page, `${coding}: ${reply.status}`)
          }
        },
      )
    })

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

    test('a changed file, a new one and one that was removed are seen after at most a second', async () => {
      const name = join(root, 'changing.txt')
      await serve(
        (app) => app.static('/', root, { precompressed: true }),
        async (live) => {
          const ask = async (): Promise<string> => {
            const reply = await live.ask('/changing.txt', { headers: { 'accept-encoding': 'gzip' } })
            return reply.status === 404
              ? 'none'
              : `${reply.headers['content-encoding'] ?? 'plain'} ${reply.body.length}`
          }
          /** Fails if a request that began more than a second after the change does not see it. */
          const sees = async (what: string, isSeen: () => Promise<boolean>): Promise<void> => {
            const changed = performance.now()
            for (;;) {
              const asked = performance.now()
              if (await isSeen()) return
              assert.ok(asked - changed < 1_500, what)
            }
          }
          const becomes = (wanted: string): Promise<void> =>
            sees(wanted, async () => (await ask()) === wanted)
          const header = async (name: string): Promise<string | undefined> =>
            (await live.ask('/changing.txt')).headers[name]
          assert.equal(await ask(), 'none')
          writeFileSync(name, 'one')
          assert.equal(await ask(), 'plain 3')
          writeFileSync(name, 'two and more')
          await becomes('plain 12')
          // The size stays, and so does the time, as in a build that can be repeated.
          utimesSync(name, 0, 0)
          await sees('no time', async () => (await header('last-modified')) === undefined)
          const tag = await header('etag')
          writeFileSync(join(root, 'next.txt'), 'three and mo')
          utimesSync(join(root, 'next.txt'), 0, 0)
          renameSync(join(root, 'next.txt'), name)
          await sees('another tag', async () => (await header('etag')) !== tag)
          assert.equal((await live.ask('/changing.txt')).text, 'three and mo')
          writeFileSync(`${name}.gz`, gzipSync('three and mo'))
          await becomes(`gzip ${gzipSync('three and mo').length}`)
          rmSync(name)
          await becomes('none')
          rmSync(`${name}.gz`)
        },
      )
    })

    test('a file that goes before the one in memory is seen, and a newer copy of one that was old', async () => {
      const folder = join(root, 'order')
      mkdirSync(join(folder, 'js.js.gz'), { recursive: true })
      const file = (name: string, text: string | Buffer, at = written): void => {
        writeFileSync(join(folder, name), text)
        utimesSync(join(folder, name), at, at)
      }
      file('index.html', 'second')
      file('a.html', 'a.html')
      file('js.js', script)
      file('js.js.br', 'old', new Date(0))
      await serve(
        (app) =>
          app.static('/', folder, {
            index: ['index.htm', 'index.html'],
            extensions: ['html'],
            precompressed: true,
          }),
        async (live) => {
          const headers = { 'accept-encoding': 'br' }
          /** Waits for a little more than a second. */
          const sees = async (path: string, wanted: string): Promise<void> => {
            const began = performance.now()
            while ((await live.ask(path, { headers })).text !== wanted)
              assert.ok(performance.now() - began < 10_000, `${path}: ${wanted}`)
          }
          await sees('/', 'second')
          await sees('/a', 'a.html')
          await sees('/js.js', script)
          file('index.htm', 'first')
          file('a', 'a')
          file('js.js.br', 'new')
          await sees('/', 'first')
          await sees('/a', 'a')
          await sees('/js.js', 'new')
        },
      )
    })

    /** How often this process has the file open; −1 where the system does not tell. */
    function opened(name: string): number {
      if (!existsSync('/proc/self/fd')) return -1
      return readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === name
        } catch {
          return false
        }
      }).length
    }

    test('a file that shrinks resets the connection; one that grows is sent as long as it was', async () => {
      const name = join(root, 'moving.bin')
      await serve(
        (app) => app.static('/', root),
        async (live) => {
          writeFileSync(name, '')
          truncateSync(name, 64 * 1_048_576)
          const wire = await live.connect()
          wire.send(request('GET', '/moving.bin'))
          await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          wire.socket.pause()
          truncateSync(name, 1_000)
          wire.socket.resume()
          await assert.rejects(wire.reply(), /ended in a reply/)
          assert.equal((kit.reports.pop() as VolantError).code, 'E_RESET')
          const length = 8 * 1_048_576
          truncateSync(name, length)
          const other = await live.connect()
          other.send(request('GET', '/moving.bin'))
          await other.until(() => (other.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          other.socket.pause()
          appendFileSync(name, Buffer.alloc(length, 1))
          other.socket.resume()
          const reply = await other.reply()
          assert.equal(reply.body.length, length)
          assert.equal((await other.send(request('GET', '/css/site.css')).reply()).text, style)
          await eventually(() => opened(name) <= 0, 'the file is closed')
        },
      )
    })

    test('no file stays open: clients leave, conditions fail, copies are not chosen', async () => {
      const name = join(root, 'huge.js')
      writeFileSync(name, '')
      truncateSync(name, 16 * 1_048_576)
      writeFileSync(`${name}.gz`, '')
      truncateSync(`${name}.gz`, 8 * 1_048_576)
      await serve(
        (app) => app.static('/', root, { precompressed: true }),
        async (live) => {
          for (let at = 0; at < 5; at++) {
            const wire = await live.connect()
            wire.socket.pause()
            wire.send(request('GET', '/huge.js'))
            await eventually(() => opened(name) !== 0, 'the file is open')
            wire.reset()
          }
          for (const headers of [
            { 'if-match': '"x"' },
            { 'if-none-match': '*' },
            { range: `bytes=${2 ** 40}-` },
            { 'accept-encoding': 'gzip', 'if-none-match': '*' },
          ]) {
            await live.ask('/huge.js', { headers })
          }
          await live.ask('/huge.js', { method: 'HEAD' })
          const coded = await live.ask('/huge.js', { headers: { 'accept-encoding': 'gzip' } })
          assert.equal(coded.body.length, 8 * 1_048_576)
          await eventually(() => opened(name) <= 0 && opened(`${name}.gz`) <= 0, 'the files are closed')
        },
      )
    })

    const huge = process.env['TEST_ALL'] === '1' ? 1_024 : 128
    test(`${huge} MiB are sent in constant memory`, async () => {
      const name = join(root, 'enormous.bin')
      const size = huge * 1_048_576
      writeFileSync(name, '')
      truncateSync(name, size)
      await serve(
        (app) => app.static('/', root),
        async (live) => {
          // The client has a process of its own, so that its garbage is not counted.
          const program = `
            let received = 0
            for await (const chunk of (await fetch(process.argv[1])).body) received += chunk.length
            console.log(received)`
          const least = process.memoryUsage.rss()
          let most = least
          const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10)
          const args = ['--input-type=module', '-e', program, `${live.address.url}/enormous.bin`]
          const { stdout } = await promisify(execFile)(process.execPath, args)
          clearInterval(timer)
          assert.equal(Number(stdout), size)
          // What is not collected yet counts, too.
          assert.ok(most - least < 96 * 1_048_576, `${Math.round((most - least) / 1_048_576)} MiB more`)
        },
      )
      rmSync(name)
    })

    test('headers of its own, and options that leave headers out', async () => {
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
          const cookies = async (path: string): Promise<string[]> =>
            (await fetch(live.address.url + path)).headers.getSetCookie()
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
