import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { App, Context, FileOptions, VolantError } from 'volant'
import { deferred, eventually, type Kit, type Live, request } from '../kit.ts'

const hello = 'hello, file\n'
const written = new Date('2024-02-29T12:34:56.789Z')
const modified = 'Thu, 29 Feb 2024 12:34:56 GMT'

export function files(kit: Kit): void {
  describe('ctx.file', () => {
    let folder = ''
    let root = ''
    const large = randomBytes(3_000_001)
    before(() => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'volant-')))
      root = join(folder, 'public')
      mkdirSync(join(root, 'sub', '.git'), { recursive: true })
      mkdirSync(join(folder, 'public-not'))
      writeFileSync(join(root, 'a.txt'), hello)
      writeFileSync(join(root, 'empty.css'), '')
      writeFileSync(join(root, 'large.bin'), large)
      writeFileSync(join(root, 'sub', '.git', 'config'), 'secret')
      writeFileSync(join(root, '.env'), 'secret')
      writeFileSync(join(folder, 'outside.txt'), 'secret')
      writeFileSync(join(folder, 'public-not', 'x.txt'), 'secret')
      symlinkSync(join(folder, 'outside.txt'), join(root, 'out.txt'))
      symlinkSync(folder, join(root, 'up'))
      symlinkSync(join(root, 'a.txt'), join(root, 'in.txt'))
      symlinkSync(join(root, '.env'), join(root, 'env.txt'))
      symlinkSync(join('sub', '.git'), join(root, 'git'))
      symlinkSync('loop', join(root, 'loop'))
      execFileSync('mkfifo', [join(root, 'pipe')])
      for (const name of ['a.txt', 'large.bin']) utimesSync(join(root, name), written, written)
    })
    after(() => rmSync(folder, { recursive: true }))

    function build(): App {
      const app = kit.app()
      app.get('/f/*path', (ctx) => ctx.file(ctx.params.path, { root }))
      app.get('/dot/*path', (ctx) => ctx.file(ctx.params.path, { root, dotfiles: true }))
      app.get('/in/*path', (ctx) => ctx.file(ctx.params.path, { root: join(root, 'sub', '.git') }))
      app.get('/q', (ctx) => ctx.file(String(ctx.query['name']), { root }))
      app.get('/one', (ctx) => ctx.file(join(root, 'a.txt')))
      return app
    }

    async function serve(run: (live: Live) => Promise<void>): Promise<void> {
      await kit.serve(build(), run)
    }

    test('the request waits for it where it is neither returned nor awaited', async () => {
      const app = kit.app()
      app.get('/sync', (ctx) => void ctx.file(join(root, 'a.txt')))
      app.get('/async', async (ctx) => void ctx.file(join(root, 'a.txt')))
      app.get(
        '/behind',
        (_, next) => next(),
        (ctx) => void ctx.file(join(root, 'large.bin')),
      )
      app.get('/missing', (ctx) => void ctx.file(join(root, 'none.txt')))
      app.get('/caught', (ctx) => ctx.file(join(root, 'none.txt')).catch(() => 'instead'))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/sync')).text, hello)
        assert.equal((await live.ask('/async')).text, hello)
        assert.ok((await live.ask('/behind')).body.equals(large))
        assert.equal((await live.ask('/missing')).status, 404)
        assert.equal((await live.ask('/caught')).text, 'instead')
      })
    })

    test('a small file and its headers', async () => {
      await serve(async (live) => {
        const reply = await live.ask('/one')
        assert.equal(reply.status, 200)
        assert.equal(reply.text, hello)
        assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
        assert.equal(reply.headers['content-length'], '12')
        assert.equal(reply.headers['last-modified'], modified)
        assert.equal(reply.headers['accept-ranges'], 'bytes')
        assert.match(reply.headers['etag'] ?? '', /^W\/"c-[0-9a-z]+"$/)
        assert.equal(reply.headers['content-disposition'], undefined)
        const empty = await live.ask('/f/empty.css')
        assert.deepEqual([empty.status, empty.text, empty.headers['content-length']], [200, '', '0'])
        assert.equal(empty.headers['content-type'], 'text/css; charset=utf-8')
      })
    })

    test('a large file arrives whole, several at once, at the pace of its reader', async () => {
      await serve(async (live) => {
        const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
        const replies = await Promise.all(Array.from({ length: 4 }, () => live.ask('/f/large.bin')))
        for (const reply of replies) {
          assert.equal(reply.headers['content-type'], 'application/octet-stream')
          assert.equal(reply.headers['content-length'], String(large.length))
          assert.equal(digest(reply.body), digest(large))
        }
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/f/large.bin'))
        // The server fills the buffers of the connection and waits; nothing shows when it does.
        await new Promise((resolve) => setTimeout(resolve, 100))
        wire.socket.resume()
        assert.equal(digest((await wire.reply()).body), digest(large))
        assert.equal((await wire.send(request('GET', '/one')).reply()).text, hello)
      })
    })

    test('HEAD has the headers alone', async () => {
      await serve(async (live) => {
        for (const [path, length] of [
          ['/one', '12'],
          ['/f/large.bin', String(large.length)],
          ['/f/empty.css', '0'],
        ] as const) {
          const reply = await live.ask(path, { method: 'HEAD', headers: { range: 'bytes=0-1' } })
          assert.equal(reply.status, 200)
          assert.equal(reply.headers['content-length'], length)
          assert.equal(reply.headers['content-range'], undefined)
        }
      })
    })

    const etag = `W/"c-${written.getTime().toString(36)}"`
    const before1 = 'Thu, 29 Feb 2024 12:34:55 GMT'
    const conditions: [headers: Record<string, string>, status: number][] = [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': etag.slice(2) }, 304],
      [{ 'if-none-match': `"x", ${etag} ,"y"` }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-none-match': 'garbage"' }, 200],
      [{ 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
      [{ 'if-modified-since': modified }, 304],
      [{ 'if-modified-since': 'Thursday, 29-Feb-24 12:34:56 GMT' }, 304],
      [{ 'if-modified-since': 'Thu Feb 29 12:34:56 2024' }, 304],
      [{ 'if-modified-since': 'Fri, 01 Mar 2024 00:00:00 GMT' }, 304],
      [{ 'if-modified-since': 'Sat Mar  2 00:00:00 2024' }, 304],
      [{ 'if-modified-since': before1 }, 200],
      [{ 'if-modified-since': 'Thu, 29 Feb 1924 12:34:56 GMT' }, 200],
      [{ 'if-modified-since': '2030-01-01' }, 200],
      [{ 'if-modified-since': 'Thu, 99 Feb 2030 12:34:56 GMT' }, 200],
      [{ 'if-match': '*' }, 200],
      [{ 'if-match': etag }, 412],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-match': '*', 'if-unmodified-since': before1 }, 200],
      [{ 'if-unmodified-since': modified }, 200],
      [{ 'if-unmodified-since': before1 }, 412],
      [{ 'if-unmodified-since': 'garbage' }, 200],
      [{ 'if-unmodified-since': modified, 'if-none-match': etag }, 304],
      [{ 'if-none-match': etag, range: 'bytes=0-1' }, 304],
      [{ 'if-unmodified-since': before1, range: 'bytes=0-1' }, 412],
      [{ 'if-none-match': `${'"x",'.repeat(1_500)}"y"` }, 200],
    ]
    test(`${conditions.length} conditional requests`, async () => {
      await serve(async (live) => {
        for (const [headers, status] of conditions) {
          for (const method of ['GET', 'HEAD']) {
            if (method === 'HEAD' && status === 412) continue
            const reply = await live.ask('/one', { method, headers })
            assert.equal(reply.status, status, JSON.stringify(headers).slice(0, 100))
            if (status === 304) {
              assert.equal(reply.headers['etag'], etag)
              assert.equal(reply.headers['last-modified'], modified)
              assert.equal(reply.text, '')
            }
            if (status === 412) assert.equal((reply.json() as { code: string }).code, 'E_PRECONDITION')
          }
        }
      })
    })

    const ranges: [range: string, expected: [first: number, last: number] | 416 | 200, ifRange?: string][] = [
      ['bytes=0-0', [0, 0]],
      ['bytes=0-', [0, 11]],
      ['bytes=7-10', [7, 10]],
      ['bytes=7-99', [7, 11]],
      ['BYTES=7-10', [7, 10]],
      ['bytes=-4', [8, 11]],
      ['bytes=-99', [0, 11]],
      [`bytes=3-${'9'.repeat(400)}`, [3, 11]],
      ['bytes=11-', [11, 11]],
      ['bytes=12-', 416],
      ['bytes=12-20', 416],
      ['bytes=-0', 416],
      [`bytes=${'9'.repeat(400)}-`, 416],
      ['bytes=5-3', 200],
      ['bytes=-', 200],
      ['bytes=', 200],
      ['bytes=a-b', 200],
      ['bytes=0x1-5', 200],
      ['bytes=1.5-3', 200],
      ['bytes=--3', 200],
      ['bytes=0-1,3-4', [0, 4]],
      ['bytes=3-4,0-2', [0, 4]],
      ['bytes=0-1, ,9-99', [0, 11]],
      ['bytes=0-1,99-', [0, 1]],
      ['bytes=0-4,4-5', 200],
      ['bytes=0-1,a', 200],
      ['bytes=,,', 200],
      ['bytes=99-,100-', 416],
      [`bytes=${'0-,'.repeat(2_000)}0-`, 200],
      ['lines=0-1', 200],
      ['0-1', 200],
      ['bytes=0-1', [0, 1], modified],
      ['bytes=0-1', 200, before1],
      ['bytes=0-1', 200, 'Fri, 01 Mar 2024 00:00:00 GMT'],
      ['bytes=0-1', 200, etag],
      ['bytes=0-1', 200, '"x"'],
      ['bytes=0-1', 200, 'garbage'],
      ['bytes=99-', 200, '"x"'],
    ]
    test(`${ranges.length} ranges`, async () => {
      await serve(async (live) => {
        for (const [range, expected, ifRange] of ranges) {
          const reply = await live.ask('/one', {
            headers: { range, ...(ifRange === undefined ? {} : { 'if-range': ifRange }) },
          })
          const what = `${range.slice(0, 40)} ${ifRange ?? ''}`
          assert.equal(reply.status, typeof expected === 'number' ? expected : 206, what)
          if (expected === 416) {
            assert.equal(reply.headers['content-range'], 'bytes */12', what)
            assert.equal((reply.json() as { code: string }).code, 'E_RANGE')
            assert.equal(reply.headers['etag'], undefined)
          } else if (expected === 200) {
            assert.equal(reply.text, hello, what)
            assert.equal(reply.headers['content-range'], undefined, what)
          } else {
            const [first, last] = expected
            assert.equal(reply.text, hello.slice(first, last + 1), what)
            assert.equal(reply.headers['content-range'], `bytes ${first}-${last}/12`, what)
            assert.equal(reply.headers['content-length'], String(last - first + 1), what)
          }
        }
        const part = await live.ask('/f/large.bin', { headers: { range: 'bytes=100000-2900000' } })
        assert.equal(part.status, 206)
        assert.ok(part.body.equals(large.subarray(100_000, 2_900_001)))
        const nothing = await live.ask('/f/empty.css', { headers: { range: 'bytes=-5' } })
        assert.equal(nothing.status, 200)
        assert.equal((await live.ask('/f/empty.css', { headers: { range: 'bytes=0-' } })).status, 416)
      })
    })

    test('an ETag the handler set is the one that counts, and it may be strong', async () => {
      const app = kit.app()
      app.get('/x', (ctx) =>
        ctx.header('ETag', '"v1"').header('cache-control', 'max-age=60').file(join(root, 'a.txt')),
      )
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x', { headers: { 'if-match': '"v1"' } })).status, 200)
        const part = await live.ask('/x', { headers: { range: 'bytes=0-1', 'if-range': '"v1"' } })
        assert.deepEqual([part.status, part.headers['etag']], [206, '"v1"'])
        const unchanged = await live.ask('/x', { headers: { 'if-none-match': '"v1"' } })
        assert.deepEqual([unchanged.status, unchanged.headers['cache-control']], [304, 'max-age=60'])
      })
    })

    test('a date the handler set is the one that counts', async () => {
      const app = kit.app()
      const set = 'Sat, 01 Jan 2022 00:00:00 GMT'
      app.get('/x', (ctx) => ctx.header('last-modified', set).file(join(root, 'a.txt')))
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { headers: { 'if-modified-since': set } })
        assert.deepEqual([reply.status, reply.headers['last-modified']], [304, set])
        const before = 'Fri, 31 Dec 2021 23:59:59 GMT'
        assert.equal((await live.ask('/x', { headers: { 'if-modified-since': before } })).status, 200)
      })
    })

    test('with another status or method it is a body like any other', async () => {
      const app = kit.app()
      app.onNotFound((ctx) => ctx.status(404).file(join(root, 'a.txt')))
      app.post('/x', (ctx) => ctx.file(join(root, 'a.txt')))
      await kit.serve(app, async (live) => {
        const headers = { 'if-none-match': '*', range: 'bytes=0-1' }
        const missing = await live.ask('/none', { headers })
        assert.deepEqual([missing.status, missing.text], [404, hello])
        const posted = await live.ask('/x', { method: 'POST', headers })
        assert.deepEqual([posted.status, posted.text], [200, hello])
      })
    })

    const paths: [path: string, status: number][] = [
      ['/f/a.txt', 200],
      ['/f/in.txt', 200],
      ['/f/sub//../a.txt', 400],
      ['/f/..%2foutside.txt', 404],
      ['/f/sub%2f..%2fa.txt', 404],
      ['/f/..%5coutside.txt', 404],
      ['/f/%2e%2e%2foutside.txt', 404],
      ['/f/..%2fpublic-not%2fx.txt', 404],
      ['/f/%2fetc%2fpasswd', 404],
      ['/f/env.txt', 404],
      ['/f/git/config', 404],
      ['/f/out.txt', 404],
      ['/f/up/outside.txt', 404],
      ['/f/up/public/a.txt', 200],
      ['/f/.env', 404],
      ['/dot/.env', 200],
      ['/f/sub/.git/config', 404],
      ['/dot/sub/.git/config', 200],
      ['/in/config', 200],
      ['/dot/env.txt', 200],
      ['/dot/git/config', 200],
      ['/dot/..%2foutside.txt', 404],
      ['/dot/%2e%2e%2foutside.txt', 404],
      ['/f/none.txt', 404],
      ['/q?name=', 404],
      ['/f/sub', 404],
      ['/f/sub/', 404],
      ['/f/a.txt/', 404],
      ['/f/a.txt/b', 404],
      ['/f/loop', 404],
      ['/f/pipe', 404],
      ['/f/%2f', 404],
      [`/f/${'x'.repeat(250)}/${'y'.repeat(4)}`, 404],
      [`/f/${'x'.repeat(256)}`, 404],
    ]
    for (const [path, status] of paths) {
      test(`${path.slice(0, 40)} is ${status}`, async () => {
        await serve(async (live) => {
          const reply = await live.ask(path)
          assert.equal(reply.status, status)
          if (status === 404) assert.equal((reply.json() as { code: string }).code, 'E_NOT_FOUND')
          assert.ok(!reply.text.includes(folder), 'a path of this machine')
        })
      })
    }

    test('without root a path is the program’s own: relative, absolute, a URL', async () => {
      const app = kit.app()
      app.get('/url', (ctx) => ctx.file(pathToFileURL(join(root, 'a.txt'))))
      app.get('/up', (ctx) => ctx.file(join(root, '..', 'outside.txt')))
      app.get('/relative', (ctx) => ctx.file('package.json'))
      app.get('/nul', (ctx) => ctx.file('a\0b'))
      app.get('/root', (ctx) => ctx.file('a.txt', { root: join(folder, 'none') }))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/url')).text, hello)
        assert.equal((await live.ask('/up')).text, 'secret')
        const relative = await live.ask('/relative')
        assert.equal(relative.status, existsSync('package.json') ? 200 : 404)
        assert.equal((await live.ask('/nul')).status, 404)
        assert.equal((await live.ask('/root')).status, 500)
        const error = kit.reports.pop() as VolantError
        assert.equal(error.code, 'E_BAD_OPTION')
        assert.match(error.message, /^file: root takes a folder that exists, not ".*none"$/)
      })
    })

    const downloads: [string | true, string][] = [
      [true, 'attachment; filename="a.txt"'],
      ['report 2024.pdf', 'attachment; filename="report 2024.pdf"'],
      ['naïve "x".txt', `attachment; filename="na_ve _x_.txt"; filename*=UTF-8''na%C3%AFve%20%22x%22.txt`],
      ['€\r\nx: y.txt', `attachment; filename="___x: y.txt"; filename*=UTF-8''%E2%82%AC%0D%0Ax%3A%20y.txt`],
      ['../../etc/passwd', 'attachment; filename="passwd"'],
      ['C:\\x\\100%.txt', `attachment; filename="100_.txt"; filename*=UTF-8''100%25.txt`],
      [
        "it's (1)*.txt\ud800",
        `attachment; filename="it's (1)*.txt_"; filename*=UTF-8''it%27s%20%281%29%2a.txt%EF%BF%BD`,
      ],
      ['/', 'attachment; filename="download"'],
    ]
    test('download names', async () => {
      const app = kit.app()
      downloads.forEach(([download], index) =>
        app.get(`/${index}`, (ctx) => ctx.file(join(root, 'a.txt'), { download })),
      )
      await kit.serve(app, async (live) => {
        for (const [index, [, expected]] of downloads.entries()) {
          const reply = await live.ask(`/${index}`)
          assert.equal(reply.headers['content-disposition'], expected)
          assert.equal(reply.text, hello)
        }
      })
    })

    test('a name without a dot is no extension', async () => {
      writeFileSync(join(root, 'html'), '<script>1</script>')
      await serve(async (live) => {
        assert.equal((await live.ask('/f/html')).headers['content-type'], 'application/octet-stream')
      })
    })

    test('a content type of its own', async () => {
      const app = kit.app()
      app.get('/option', (ctx) => ctx.file(join(root, 'a.txt'), { type: 'text/x-a' }))
      app.get('/header', (ctx) => ctx.header('content-type', 'text/x-b').file(join(root, 'a.txt')))
      app.get('/bad', (ctx) => ctx.file(join(root, 'a.txt'), { type: 'a\r\nx: y' }))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/option')).headers['content-type'], 'text/x-a')
        assert.equal((await live.ask('/header')).headers['content-type'], 'text/x-b')
        assert.equal((await live.ask('/bad')).status, 500)
        assert.equal((kit.reports.pop() as VolantError).code, 'E_BAD_HEADER')
      })
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

    test('no file stays open: the client leaves, the condition fails, the reply was given', async () => {
      const name = join(root, 'huge.bin')
      writeFileSync(name, '')
      truncateSync(name, 64 * 1_048_576)
      const app = kit.app()
      app.get('/x', (ctx) => ctx.file(name))
      app.get('/replied', async (ctx) => {
        const sent = ctx.file(name)
        ctx.text('first')
        await sent
      })
      await kit.serve(app, async (live) => {
        const reported = kit.reports.length
        for (let at = 0; at < 5; at++) {
          const wire = await live.connect()
          wire.socket.pause()
          wire.send(request('GET', '/x'))
          await eventually(() => opened(name) !== 0, 'the file is open')
          wire.reset()
        }
        await live.ask('/x', { headers: { 'if-match': '"x"' } })
        await live.ask('/x', { headers: { 'if-none-match': '*' } })
        await live.ask('/x', { headers: { range: `bytes=${2 ** 40}-` } })
        await live.ask('/x', { method: 'HEAD' })
        assert.equal((await live.ask('/replied')).text, 'first')
        await eventually(() => opened(name) <= 0, 'the file is closed')
        await eventually(() => kit.reports.length > reported, 'the report')
        assert.equal((kit.reports.pop() as VolantError).code, 'E_ALREADY_REPLIED')
      })
    })

    test('a file that becomes shorter resets the connection', async () => {
      const name = join(root, 'shrinks.bin')
      writeFileSync(name, '')
      truncateSync(name, 64 * 1_048_576)
      const app = kit.app()
      const ended = deferred<boolean>()
      app.onResponse((_, info) => ended.resolve(info.aborted))
      app.get('/x', (ctx) => ctx.file(name))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/x'))
        // Its length is known by now: before, the file would merely be a short one.
        await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
        wire.socket.pause()
        truncateSync(name, 1_000)
        wire.socket.resume()
        await assert.rejects(wire.reply(), /ended in a reply/)
        assert.equal(await ended.promise, true)
        await eventually(() => opened(name) <= 0, 'the file is closed')
        assert.equal((kit.reports.pop() as VolantError).code, 'E_RESET')
      })
    })

    test('through inject and fetch', async () => {
      const app = build()
      const injected = await app.inject('/f/large.bin')
      assert.ok(injected.body.equals(large))
      const response = await app.fetch(new Request('http://x/f/large.bin'))
      assert.ok(Buffer.from(await response.arrayBuffer()).equals(large))
      const left = await app.fetch(new Request('http://x/f/large.bin'))
      await left.body?.cancel()
      await eventually(() => opened(join(root, 'large.bin')) <= 0, 'the file is closed')
    })

    const refused: [string, (ctx: Context) => unknown][] = [
      ['file: path', (ctx) => ctx.file('')],
      ['file: path', (ctx) => ctx.file(5 as unknown as string)],
      ['file: path', (ctx) => ctx.file(new URL('http://x/a.txt'))],
      ['file', (ctx) => ctx.file('a', null as unknown as FileOptions)],
      ['ctx.file has no option "maxAge"', (ctx) => ctx.file('a', { maxAge: 5 } as FileOptions)],
      ['file: root', (ctx) => ctx.file('a', { root: '' })],
      ['file: root', (ctx) => ctx.file(new URL('file:///a'), { root })],
      ['file: dotfiles', (ctx) => ctx.file('a', { dotfiles: 'allow' as unknown as boolean })],
      ['file: download', (ctx) => ctx.file('a', { download: false as unknown as true })],
      ['file: type', (ctx) => ctx.file('a', { type: 5 as unknown as string })],
    ]
    test('options that make no sense are refused by name', async () => {
      const app = kit.app()
      refused.forEach(([, call], index) => app.get(`/${index}`, call))
      await kit.serve(app, async (live) => {
        for (const [index, [name]] of refused.entries()) {
          assert.equal((await live.ask(`/${index}`)).status, 500)
          const error = kit.reports.pop() as VolantError
          assert.equal(error.code, 'E_BAD_OPTION')
          assert.ok(error.message.startsWith(name), error.message)
        }
      })
    })
  })
}
