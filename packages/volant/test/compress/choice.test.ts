/** Which replies are compressed, and with which coding. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import * as zlib from 'node:zlib'
import { compress } from 'volant/compress'
import { encodingRows } from '../encoding-rows.ts'
import { Kit } from '../kit.ts'
import { plain } from './kit.ts'

const kit = new Kit()

const long = 'compressible '.repeat(200)

const hasZstd = typeof zlib.zstdCompressSync === 'function'

const gzip = { headers: { 'accept-encoding': 'gzip' } }

const random = randomBytes(2_000)

describe('compress', () => {
  test('takes the coding with the highest weight, then the first of its own', async () => {
    const app = kit.app()
    app.use(compress({ encodings: ['br', 'gzip'] }))
    app.get('/x', () => long)
    await kit.serve(app, async (live) => {
      assert.ok(encodingRows.length >= 60)
      for (const [value, coding] of encodingRows) {
        const headers: Record<string, string> = value === undefined ? {} : { 'accept-encoding': value }
        const reply = await live.ask('/x', { headers })
        assert.equal(reply.headers['content-encoding'], coding, String(value))
        assert.equal(reply.headers['vary'], 'Accept-Encoding')
        assert.equal(plain(reply), long)
      }
    })
  })

  test('has zstd, br and gzip where Node.js has them', async () => {
    const app = kit.app()
    app.use(compress())
    app.get('/x', () => long)
    await kit.serve(app, async (live) => {
      for (const [value, coding] of [
        ['gzip, deflate, br, zstd', hasZstd ? 'zstd' : 'br'],
        ['gzip, deflate, br', 'br'],
        ['zstd', hasZstd ? 'zstd' : undefined],
      ] as const) {
        const reply = await live.ask('/x', { headers: { 'accept-encoding': value } })
        assert.equal(reply.headers['content-encoding'], coding)
        assert.equal(plain(reply), long)
      }
    })
  })

  test('leaves alone what is short, of another type, encoded, a part, bound by a sum, or without content', async () => {
    const app = kit.app()
    app.use(compress())
    const vary = 'Accept-Encoding'
    const rows: [path: string, coding?: string | undefined, vary?: string][] = [
      ['/long', 'gzip', vary],
      ['/short'],
      ['/bytes'],
      ['/typed', 'gzip', vary],
      ['/untyped'],
      ['/encoded', 'br'],
      ['/no-transform'],
      ['/digest'],
      ['/part', undefined, vary],
      ['/none'],
      ['/reset'],
      ['/same', undefined, vary],
      ['/random', undefined, vary],
      ['/stream', 'gzip', vary],
      ['/short-stream'],
      ['/error', 'gzip', vary],
      ['/missing'],
      ['/off'],
      ['/varied', 'gzip', 'Origin, Accept-Encoding'],
    ]
    app.get('/long', () => long)
    app.get('/short', () => 'x'.repeat(1_023))
    app.get('/bytes', () => Buffer.from(long))
    app.get('/typed', (ctx) =>
      ctx.header('content-type', 'Application/LD+JSON ;x=1').bytes(Buffer.from(long)),
    )
    app.get('/untyped', () => new Response(Buffer.from(long)))
    app.get('/encoded', (ctx) => ctx.header('content-encoding', 'br').text(long))
    app.get('/no-transform', (ctx) => ctx.header('cache-control', 'public,No-Transform').text(long))
    app.get('/digest', (ctx) => ctx.header('repr-digest', 'sha-256=:AA==:').text(long))
    app.get('/part', (ctx) => ctx.header('content-range', 'bytes 0-9/20').text(long, 206))
    app.get('/none', (ctx) => ctx.reply(204))
    app.get('/reset', (ctx) => ctx.text(long, 205))
    app.get('/same', (ctx) => ctx.reply(304))
    app.get('/random', (ctx) => ctx.header('content-type', 'text/plain').bytes(random))
    app.get('/stream', (ctx) => ctx.stream([long], { type: 'text/plain' }))
    app.get('/short-stream', (ctx) => ctx.stream(['x'], { type: 'text/plain', length: 1 }))
    app.get('/error', (ctx) => ctx.text(long, 500))
    app.get('/off', { compress: false }, () => long)
    app.get('/varied', (ctx) => ctx.header('vary', 'Origin').text(long))
    await kit.serve(app, async (live) => {
      for (const [path, coding, varies] of rows) {
        const { headers } = await live.ask(path, gzip)
        assert.deepEqual([headers['content-encoding'], headers['vary']], [coding, varies], path)
      }
    })
  })

  test('filter takes a RegExp, or a function of context and type', async () => {
    const app = kit.app()
    app.use('/pattern', compress({ filter: /^application\/octet/g }))
    app.use(
      '/function',
      compress({ filter: (ctx, type) => ctx.path.endsWith('/yes') && type === 'text/plain' }),
    )
    app.get('/pattern/bytes', () => Buffer.from(long))
    app.get('/pattern/text', () => long)
    app.get('/function/yes', () => long)
    app.get('/function/no', () => long)
    await kit.serve(app, async (live) => {
      for (const [path, coding] of [
        ['/pattern/bytes', 'gzip'],
        ['/pattern/bytes', 'gzip'],
        ['/pattern/text', undefined],
        ['/function/yes', 'gzip'],
        ['/function/no', undefined],
      ] as const) {
        assert.equal((await live.ask(path, gzip)).headers['content-encoding'], coding, path)
      }
    })
  })
})
