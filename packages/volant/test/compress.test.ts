import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { type Context, etag, type VolantError } from 'volant'
import { compress, type CompressOptions } from 'volant/compress'
import { encodingRows } from './encoding-rows.ts'
import { eventually, Kit, type Reply } from './kit.ts'

const kit = new Kit()
const long = 'compressible '.repeat(200)
const hasZstd = typeof zlib.zstdCompressSync === 'function'

const plain = (reply: Reply): string => {
  switch (reply.headers['content-encoding']) {
    case 'gzip':
      return zlib.gunzipSync(reply.body).toString()
    case 'br':
      return zlib.brotliDecompressSync(reply.body).toString()
    case 'zstd':
      return zlib.zstdDecompressSync(reply.body).toString()
    default:
      return reply.text
  }
}

const gzip = { headers: { 'accept-encoding': 'gzip' } }

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

  test('a reply to HEAD varies as that to GET does, and has no length that compression would change', async () => {
    const app = kit.app()
    app.use(compress())
    app.get('/long', (ctx) => ctx.header('etag', '"1"').header('accept-ranges', 'bytes').text(long))
    app.get('/stream', (ctx) => ctx.stream([long], { type: 'text/plain', length: long.length }))
    await kit.serve(app, async (live) => {
      for (const path of ['/long', '/stream']) {
        const { headers } = await live.ask(path, { method: 'HEAD', ...gzip })
        assert.deepEqual([headers['vary'], headers['content-length']], ['Accept-Encoding', undefined])
        assert.deepEqual([headers['content-encoding'], headers['accept-ranges']], [undefined, undefined])
        const as = await live.ask(path, { method: 'HEAD' })
        assert.deepEqual(
          [as.headers['vary'], as.headers['content-length']],
          ['Accept-Encoding', String(long.length)],
        )
      }
      assert.equal((await live.ask('/long', { method: 'HEAD', ...gzip })).headers['etag'], 'W/"1"')
    })
  })

  for (const order of ['before', 'behind'] as const) {
    test(`tags are of the content, with etag() ${order} it, and come back weak`, async () => {
      const app = kit.app()
      if (order === 'before') app.use(etag(), compress())
      else app.use(compress(), etag())
      app.get('/x', () => long)
      await kit.serve(app, async (live) => {
        const strong = (await live.ask('/x')).headers['etag'] as string
        assert.match(strong, /^"/)
        const reply = await live.ask('/x', gzip)
        assert.equal(reply.headers['etag'], `W/${strong}`)
        for (const tag of [strong, `W/${strong}`]) {
          const same = await live.ask('/x', { headers: { ...gzip.headers, 'if-none-match': tag } })
          assert.deepEqual(
            [same.status, same.headers['etag'], same.headers['vary'], same.headers['content-encoding']],
            [304, tag, 'Accept-Encoding', undefined],
          )
        }
      })
    })
  }

  test('comes after every hook of onSend, wherever it is registered', async () => {
    const app = kit.app()
    const seen: unknown[] = []
    const see = (_: Context, { body, headers }: { body: unknown; headers: { has(name: string): boolean } }) =>
      void seen.push([body, headers.has('content-encoding')])
    app.onSend(see)
    app.with(compress()).get('/x', { handlerTimeout: 1_000 }, () => long)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x', gzip)).headers['content-encoding'], 'gzip')
      assert.deepEqual(seen, [[long, false]])
    })
  })

  test('a stream that a hook has wrapped is compressed to its end, and cancelled with what it reads', async () => {
    const app = kit.app()
    app.use(compress())
    let ended = 0
    app.onSend((_, reply) => {
      const { body } = reply
      if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return
      reply.body = (async function* () {
        for await (const chunk of body) yield `<${String(chunk)}>`
      })()
    })
    const source = (fails: boolean): Readable =>
      Readable.from(
        (async function* () {
          yield* ['a', 'b']
          await new Promise((resolve) => setImmediate(resolve))
          yield 'c'
          if (fails) throw new Error('gone')
        })(),
      ).on('close', () => ended++)
    app.get('/x', (ctx) => ctx.stream(source(false), { type: 'text/plain' }))
    app.get('/head', (ctx) => ctx.stream(source(false), { type: 'text/plain' }))
    app.get('/fails', (ctx) => ctx.stream(source(true), { type: 'text/plain' }))
    await kit.serve(app, async (live) => {
      assert.equal(plain(await live.ask('/x', gzip)), '<a><b><c>')
      await live.ask('/head', { method: 'HEAD', ...gzip })
      await assert.rejects(live.ask('/fails', gzip))
      assert.equal((kit.reports.pop() as Error).message, 'gone')
      await eventually(() => ended === 3, 'the sources are closed')
    })
  })

  test('what is above syncThreshold is compressed later, with the same result', async () => {
    for (const syncThreshold of [0, 1e6]) {
      const app = kit.app()
      app.use(compress({ syncThreshold }))
      app.get('/x', () => long)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', gzip)
        assert.equal(plain(reply), long)
        assert.equal(reply.headers['content-length'], String(reply.body.length))
      })
    }
  })

  test('a reply leaves as it is where the queue of larger bodies is full', async () => {
    const app = kit.app()
    app.use(compress({ syncThreshold: 0 }))
    app.get('/few-bytes', () => long)
    app.get('/many-bytes', () => long.repeat(400))
    await kit.serve(app, async (live) => {
      for (const [path, count] of [
        ['/few-bytes', 300],
        ['/many-bytes', 60],
      ] as const) {
        const replies = await Promise.all(Array.from({ length: count }, () => live.ask(path, gzip)))
        const packed = replies.filter(({ headers }) => headers['content-encoding'] === 'gzip').length
        assert.ok(packed > 30 && packed < count, `${packed} of ${count} were compressed`)
        const text = plain(replies[0] as Reply)
        for (const reply of replies) {
          assert.equal(plain(reply), text)
          assert.equal(reply.headers['vary'], 'Accept-Encoding')
        }
      }
    })
  })

  test('bodies of every length around the sizes of windows come back as they were', async () => {
    const app = kit.app()
    app.use(compress({ threshold: 0 }))
    const text = randomBytes(33_000).toString('hex')
    app.get('/:length', (ctx) => text.slice(0, Number(ctx.params.length)))
    await kit.serve(app, async (live) => {
      const lengths = [0, 1, 249, 250, 251, 500, 763, 16_122, 16_123, 32_505, 32_506, 32_507, 32_768, 66_000]
      for (const coding of ['gzip', 'br', 'zstd']) {
        for (const length of lengths) {
          const reply = await live.ask(`/${length}`, { headers: { 'accept-encoding': coding } })
          assert.equal(plain(reply), text.slice(0, length), `${coding} ${length}`)
        }
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

  test('two encoders for one reply are refused at the start, by their places', async () => {
    const conflict = async (build: (app: ReturnType<Kit['app']>) => void): Promise<string> => {
      const app = kit.app()
      build(app)
      try {
        await app.inject('/')
        return ''
      } catch (error) {
        assert.equal((error as VolantError).code, 'E_MIDDLEWARE_CONFLICT')
        return (error as Error).message
      } finally {
        await app.close()
      }
    }
    const twice = (first: string, second: string): RegExp =>
      new RegExp(`compress\\(\\) of ${first}, and by compress\\(\\) of ${second};`)
    assert.match(await conflict((app) => app.use(compress(), compress())), twice('the app', 'the app'))
    assert.match(
      await conflict((app) => {
        app.use(compress())
        app.group('/api', (api) => void api.use(compress()))
      }),
      twice('the app', 'the scope /api'),
    )
    assert.match(
      await conflict((app) => {
        app.use('/a', compress())
        app.get('/a/:id', compress(), () => long)
      }),
      twice('the app, under /a', 'the route itself'),
    )
    assert.match(
      await conflict((app) => {
        app.with(compress()).get('/x', compress(), () => long)
      }),
      twice(String.raw`a scope of with\(\) or register\(\)`, 'the route itself'),
    )
    assert.match(
      await conflict((app) => {
        const inner = kit.app()
        inner.use(compress())
        inner.get('/x', () => long)
        app.use(compress())
        app.mount('/inner', inner)
      }),
      twice('the app', 'the scope /inner'),
    )
    const apart = await conflict((app) => {
      app.use('/a', compress())
      app.use('/b', compress())
      app.get('/:any/x', () => long)
    })
    assert.equal(apart, '')
  })

  test('options that make no sense are refused by name', () => {
    for (const [options, message] of [
      [null, /compress takes an object of options/],
      [{ encodings: [] }, /compress: encodings takes an array/],
      [
        { encodings: ['deflate'] },
        /compress: encodings takes an array of 'zstd', 'br', 'gzip', each once, not "deflate"/,
      ],
      [{ encodings: ['gzip', 'gzip'] }, /each once/],
      [{ threshold: -1 }, /compress: threshold takes an integer of bytes from 0, not -1/],
      [{ syncThreshold: 1.5 }, /compress: syncThreshold/],
      [{ maxCompressing: '1' }, /compress: maxCompressing/],
      [{ filter: 'text' }, /compress: filter takes a RegExp of media types, or a function/],
      [{ levels: { br: 12 } }, /compress: levels.br takes an integer from 0 to 11, not 12/],
      [{ levels: { zstd: 20 } }, /compress: levels.zstd takes an integer from 1 to 19/],
      [{ levels: { brotli: 4 } }, /compress: levels has no option "brotli"/],
      [{ brotliOptions: {} }, /compress has no option "brotliOptions": levels: \{ br \}/],
    ] as const) {
      assert.throws(() => compress(options as unknown as CompressOptions), { code: 'E_BAD_OPTION', message })
    }
    const app = kit.app()
    // @ts-expect-error -- it is a boolean
    assert.throws(() => app.get('/x', { compress: 'no' }, () => 'x'), {
      code: 'E_BAD_OPTION',
      message: /the route \/x: compress takes true or false/,
    })
    assert.throws(() => app.use(compress as never), {
      code: 'E_BAD_HANDLER',
      message: /write app.use\(compress\(\)\)/,
    })
  })
})

const random = randomBytes(2_000)
