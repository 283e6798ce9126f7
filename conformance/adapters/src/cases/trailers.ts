/** Trailer fields of requests and of replies (RFC 9110 §6.5). */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { Context } from 'volant'
import { fromConnect } from 'volant/connect'
import { Call, type HttpVersion, versionsOf } from '../call.ts'
import { deferred, eventually, type Kit, request } from '../kit.ts'

/** One field of each kind that RFC 9110 §6.5.1 does not allow as a trailer. */
const forbidden = [
  'content-length',
  'Transfer-Encoding',
  'Host',
  'http2-settings',
  'authorization',
  'Content-Type',
  'Content-Encoding',
  'cache-control',
  'Set-Cookie',
  'trailer',
  'te',
]

export function trailers(kit: Kit): void {
  for (const version of versionsOf(kit)) {
    describe(`trailers of replies over HTTP/${version}`, kit.needs('trailers'), () => {
      replies(kit, version)
    })
    describe(`trailers of requests over HTTP/${version}`, kit.needs('trailers'), () => {
      requests(kit, version)
    })
  }

  test('an adapter without trailers says so', { skip: kit.can('trailers') && 'it has them' }, async () => {
    const app = kit.app()
    app.get('/', (ctx) => ctx.trailer('x-a', '1').text('x'))
    app.post('/', { bodyMode: 'stream' }, async (ctx) => {
      await ctx.request.text()
      return { ...ctx.trailers }
    })
    app.get(
      '/connect',
      fromConnect((_, res) => res.addTrailers({ 'x-a': '1' })),
    )
    await kit.serve(app, async (live) => {
      for (const path of ['/', '/connect']) {
        assert.equal((await live.ask(path)).status, 500)
        assert.match(String(kit.reports.pop()), /no fields behind a body/)
      }
      assert.deepEqual((await live.post('/', null, 'x')).json(), {})
    })
  })

  describe('trailers in HTTP/1', kit.needs('trailers'), () => {
    test('a reply of HTTP/1.0 has none', kit.needs('http-1.0'), async () => {
      const app = kit.app()
      app.get('/whole', (ctx) => ctx.trailer('x-a', '1').text('whole'))
      app.get('/stream', (ctx) => ctx.trailer('x-a', '1').stream(['stream']))
      await kit.serve(app, async (live) => {
        for (const [path, text] of [
          ['/whole', 'whole'],
          ['/stream', 'stream'],
        ] as const) {
          const wire = await live.connect()
          wire.send(`GET ${path} HTTP/1.0\r\n\r\n`)
          const reply = await wire.reply()
          assert.deepEqual([reply.status, reply.text], [200, text])
          await wire.ended()
        }
      })
    })

    test('they leave as they were given, and the next reply begins behind them', async () => {
      const app = kit.app()
      app.get('/s', (ctx) => ctx.trailer('X-One', 'é').trailer('x-two', ['a', 'b']).stream(['body']))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let times = 0; times < 2; times++) {
          const reply = await wire.send(request('GET', '/s')).reply()
          assert.equal(reply.headers['content-length'], undefined)
          assert.deepEqual(
            reply.trailers.map(([name, value]) => [name.toLowerCase(), value]),
            [
              ['x-one', 'é'],
              ['x-two', 'a'],
              ['x-two', 'b'],
            ],
          )
        }
        const whole = await wire.send(request('GET', '/none')).reply()
        assert.equal(whole.status, 404)
      })
    })

    test('those of a request never become fields of its head, and forbidden ones are not seen', async () => {
      const app = kit.app()
      app.post('/', { bodyMode: 'stream' }, async (ctx) => {
        const body = await ctx.request.text()
        return { body, head: ctx.headers['x-a'] ?? null, trailers: { ...ctx.trailers } }
      })
      await kit.serve(app, async (live) => {
        const head =
          'POST / HTTP/1.1\r\nHost: a\r\nX-A: head\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'
        const wire = await live.connect()
        wire.send(`${head}X-A: trailer\r\nX-B:\t1\t\r\nX-b: 2\r\nX-C:\r\nCache-Control: no-store\r\n\r\n`)
        assert.deepEqual((await wire.reply()).json(), {
          body: 'hello',
          head: 'head',
          trailers: { 'x-a': 'trailer', 'x-b': '1, 2', 'x-c': '' },
        })
        // The result is the same when each byte arrives alone.
        for (const byte of `${head}X-A: trailer\r\n\r\n`) {
          wire.send(byte)
          await new Promise(setImmediate)
        }
        assert.deepEqual((await wire.reply()).json(), {
          body: 'hello',
          head: 'head',
          trailers: { 'x-a': 'trailer' },
        })
        // The native adapter refuses the request, and node:http passes it on.
        wire.send(`${head}Content-Length: 5\r\nX-D: 1\r\n\r\n`)
        const reply = await wire.reply()
        if (reply.status === 200)
          assert.deepEqual((reply.json() as { trailers: unknown }).trailers, { 'x-d': '1' })
        else assert.equal(reply.status, 400)
      })
    })

    test('app.inject carries them both ways', async () => {
      const app = kit.app()
      app.post('/echo', { bodyMode: 'stream' }, async (ctx) => {
        assert.deepEqual({ ...ctx.trailers }, {})
        const text = await ctx.request.text()
        ctx.trailer('x-seen', JSON.stringify({ ...ctx.trailers })).text(text)
      })
      app.get('/none', (ctx) => ctx.text('none'))
      app.get('/length', (ctx) => ctx.trailer('x-a', '1').stream(['abc'], { length: 3 }))
      app.get('/old', (ctx) => ctx.trailer('x-a', '1').text('abc'))
      const trailers = { 'x-a': '1', 'x-b': ['2', '3'] }
      for (const body of [undefined, 'text', Readable.from(['te', 'xt'])]) {
        const reply = await app.inject({ method: 'POST', url: '/echo', body, trailers })
        assert.equal(reply.status, 200)
        assert.equal(reply.text(), body === undefined ? '' : 'text')
        assert.deepEqual({ ...reply.trailers }, { 'x-seen': '{"x-a":"1","x-b":"2, 3"}' })
        assert.equal(reply.headers['content-length'], undefined)
      }
      assert.deepEqual({ ...(await app.inject('/none')).trailers }, {})
      assert.deepEqual({ ...(await app.inject('/length')).trailers }, {})
      const old = await app.inject({ url: '/old', httpVersion: '1.0' })
      assert.deepEqual([old.text(), { ...old.trailers }], ['abc', {}])
      await assert.rejects(
        app.inject({ method: 'POST', url: '/echo', body: 'x', trailers: { host: 'b' } }),
        /inject: trailers/,
      )
      // A web Response cannot have trailers.
      const response = await app.fetch(new Request('http://a/echo', { method: 'POST', body: 'text' }))
      assert.equal(await response.text(), 'text')
    })
  })
}

function replies(kit: Kit, version: HttpVersion): void {
  test('they are set until the body ends', async () => {
    const app = kit.app()
    const gate = deferred()
    app.post('/stream', { bodyMode: 'stream' }, (ctx) => {
      ctx.trailer('x-first', '0').trailer('x-number', 7)
      const source = async function* () {
        yield 'one'
        await gate.promise
        yield 'two'
        ctx.trailer('X-First', '1').trailer('x-list', ['a', 'b'])
      }
      ctx.stream(source())
    })
    app.post('/generator', async function* (ctx) {
      yield 'one'
      ctx.trailer('grpc-status', '0')
    })
    await kit.serve(
      app,
      async (live) => {
        const call = Call.open(live.address, version, '/stream').end()
        await call.has('one')
        gate.resolve()
        const { status, text, trailers } = await call.whole()
        assert.deepEqual([status, text], [200, 'onetwo'])
        assert.deepEqual(trailers, { 'x-first': '1', 'x-number': '7', 'x-list': 'a, b' })
        const generated = await Call.open(live.address, version, '/generator').end().whole()
        assert.deepEqual([generated.text, generated.trailers], ['one', { 'grpc-status': '0' }])
      },
      { http2: version === '2' },
    )
  })

  test('several values of a field that is usually single do no harm', async () => {
    const app = kit.app()
    const single = ['etag', 'last-modified', 'content-language', 'content-location', 'from', 'user-agent']
    app.post('/', (ctx) => {
      for (const name of single) ctx.trailer(name, ['a', 'b'])
      ctx.trailer('x-a', '1').stream(['body'])
    })
    await kit.serve(
      app,
      async (live) => {
        const { text, trailers } = await Call.open(live.address, version, '/').end().whole()
        assert.deepEqual([text, trailers['x-a']], ['body', '1'])
        // Some clients keep the first value, and others have a list of the values.
        for (const name of single) assert.match(String(trailers[name]), /^a(?:, b)?$/)
      },
      { http2: version === '2' },
    )
  })

  test('a reply that is no stream has them, too', async () => {
    const app = kit.app()
    app.use((ctx, next) => {
      ctx.trailer('x-a', '1')
      return next()
    })
    app.post('/json', () => ({ a: 1 }))
    app.post('/text', (ctx) => ctx.text('text'))
    app.post('/large', (ctx) => ctx.text('x'.repeat(300_000)))
    app.post('/empty', (ctx) => ctx.reply(200))
    await kit.serve(
      app,
      async (live) => {
        for (const [path, expected] of [
          ['/json', '{"a":1}'],
          ['/text', 'text'],
          ['/large', 'x'.repeat(300_000)],
          ['/empty', ''],
        ] as const) {
          const { status, text, trailers, headers } = await Call.open(live.address, version, path)
            .end()
            .whole()
          assert.equal(status, 200)
          assert.ok(text === expected, path)
          assert.deepEqual(trailers, { 'x-a': '1' })
          assert.equal(headers['content-length'], undefined)
        }
      },
      { http2: version === '2' },
    )
  })

  test('a reply that can have none goes out without', async () => {
    const app = kit.app()
    const mark = (ctx: Context): Context => ctx.trailer('x-a', '1')
    app.on(['GET', 'HEAD'], '/text', (ctx) => mark(ctx).text('text'))
    app.on(['GET', 'HEAD'], '/stream', (ctx) => mark(ctx).stream(['text']))
    app.get('/length', (ctx) => mark(ctx).stream(['abc'], { length: 3 }))
    app.get('/204', (ctx) => mark(ctx).reply(204))
    app.get('/304', (ctx) => mark(ctx).stream(['x'], { status: 304 }))
    await kit.serve(
      app,
      async (live) => {
        for (const [method, path, status, expected] of [
          ['HEAD', '/text', 200, ''],
          ['HEAD', '/stream', 200, ''],
          ['GET', '/204', 204, ''],
          ['GET', '/304', 304, ''],
        ] as const) {
          const reply = await Call.open(live.address, version, path, { method }).end().whole()
          assert.deepEqual([reply.status, reply.text, reply.trailers], [status, expected, {}], path)
        }
        const { text, trailers } = await Call.open(live.address, version, '/length', { method: 'GET' })
          .end()
          .whole()
        assert.deepEqual([text, trailers], ['abc', {}])
      },
      { http2: version === '2' },
    )
  })

  test('those of a connect handler, which leaves out what may not stand there', async () => {
    const app = kit.app()
    app.post(
      '/',
      fromConnect((_, res) => {
        res.writeHead(200)
        res.addTrailers({ 'content-length': '3', 'grpc-status': '5' })
        res.end()
      }),
    )
    await kit.serve(
      app,
      async (live) => {
        const { status, trailers } = await Call.open(live.address, version, '/').end().whole()
        assert.deepEqual([status, trailers], [200, { 'grpc-status': '5' }])
        assert.match(String(kit.reports.pop()), /res\.addTrailers\(\) with content-length/)
      },
      { http2: version === '2' },
    )
  })

  test('fields that have to stand in the head are refused', async () => {
    const app = kit.app()
    const codes: unknown[] = []
    app.post('/', (ctx) => {
      for (const name of [...forbidden, 'a b', '']) {
        try {
          ctx.trailer(name, '1')
          codes.push(name)
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'E_BAD_HEADER')
        }
      }
      assert.throws(() => ctx.trailer('x', 'a\r\nb: c'), { code: 'E_BAD_HEADER' })
      assert.throws(() => ctx.trailer('x', ['a', {} as string]), { code: 'E_BAD_HEADER' })
      ctx.trailer('etag', '"1"').stream(['x'])
    })
    await kit.serve(
      app,
      async (live) => {
        const { trailers } = await Call.open(live.address, version, '/').end().whole()
        assert.deepEqual([trailers, codes], [{ etag: '"1"' }, []])
      },
      { http2: version === '2' },
    )
  })

  test('one that is set too late is dropped and reported', async () => {
    const app = kit.app()
    app.post('/', async (ctx) => {
      ctx.text('text')
      ctx.trailer('x-late', '1')
    })
    await kit.serve(
      app,
      async (live) => {
        const reported = kit.reports.length
        const { text, trailers } = await Call.open(live.address, version, '/').end().whole()
        assert.deepEqual([text, trailers], ['text', {}])
        await eventually(() => kit.reports.length > reported, 'the report')
        assert.match(String(kit.reports.pop()), /the trailer x-late was set after POST \/ had its reply/)
      },
      { http2: version === '2' },
    )
  })

  test('an error in place of the reply has none, and a reply that breaks off has none', async () => {
    const app = kit.app()
    const gate = deferred()
    app.post('/error', (ctx) => {
      ctx.trailer('x-a', '1')
      throw new Error('before the head')
    })
    app.post('/broken', (ctx) => {
      ctx.trailer('x-a', '1')
      const source = async function* () {
        yield 'part'
        await gate.promise
        throw new Error('behind the head')
      }
      ctx.stream(source())
    })
    await kit.serve(
      app,
      async (live) => {
        const reply = await Call.open(live.address, version, '/error').end().whole()
        assert.deepEqual([reply.status, reply.trailers], [500, {}])
        assert.match(String(kit.reports.pop()), /before the head/)
        const call = Call.open(live.address, version, '/broken').end()
        await call.has('part')
        gate.resolve()
        await assert.rejects(call.whole())
        assert.match(String(kit.reports.pop()), /behind the head/)
      },
      { http2: version === '2' },
    )
  })

  test('send hooks and compression leave them alone', async () => {
    const { compress } = await import('volant/compress')
    const app = kit.app()
    app.use(compress({ threshold: 0 }))
    app.onSend((_, reply) => void reply.headers.set('x-hook', '1'))
    app.post('/', (ctx) => {
      const source = async function* () {
        yield 'x'.repeat(4_000)
        ctx.trailer('x-a', '1')
      }
      ctx.stream(source(), { type: 'text/plain' })
    })
    await kit.serve(
      app,
      async (live) => {
        const call = Call.open(live.address, version, '/', { headers: { 'accept-encoding': 'gzip' } })
        const { headers, trailers } = await call.end().whole()
        assert.deepEqual([headers['x-hook'], headers['content-encoding']], ['1', 'gzip'])
        assert.deepEqual(trailers, { 'x-a': '1' })
      },
      { http2: version === '2' },
    )
  })
}

function requests(kit: Kit, version: HttpVersion): void {
  test('a handler has them once a streamed body has ended', async () => {
    const app = kit.app()
    const before: unknown[] = []
    app.post('/web', { bodyMode: 'stream' }, async (ctx) => {
      before.push({ ...ctx.trailers })
      const reader = ctx.bodyStream.getReader()
      let text = ''
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        text += Buffer.from(value).toString()
        before.push({ ...ctx.trailers })
      }
      assert.equal(Object.getPrototypeOf(ctx.trailers), null)
      return { text, trailers: { ...ctx.trailers } }
    })
    app.post('/request', { bodyMode: 'stream' }, async (ctx) => {
      const text = await ctx.request.text()
      return { text, trailers: { ...ctx.trailers } }
    })
    app.post('/whole', async (ctx) => ({ text: ctx.bodyText, trailers: { ...ctx.trailers } }))
    await kit.serve(
      app,
      async (live) => {
        const trailers = { 'x-checksum': 'abc', 'x-empty': '' }
        for (const path of ['/web', '/request']) {
          const call = Call.open(live.address, version, path, { trailers })
          call.write('one')
          call.write('two')
          const { text } = await call.end().whole()
          assert.deepEqual(JSON.parse(text), { text: 'onetwo', trailers })
        }
        assert.ok(before.every((each) => Object.keys(each as object).length === 0))
        // A body that is complete before the handler runs has lost its trailers.
        const call = Call.open(live.address, version, '/whole', { trailers })
        call.write('one')
        assert.deepEqual(JSON.parse((await call.end().whole()).text), { text: 'one', trailers: {} })
        const none = Call.open(live.address, version, '/request')
        none.write('one')
        assert.deepEqual(JSON.parse((await none.end().whole()).text), { text: 'one', trailers: {} })
      },
      { http2: version === '2' },
    )
  })

  test('behind an empty body, and as many as there may be', async () => {
    const app = kit.app()
    app.post('/', { bodyMode: 'stream' }, async (ctx) => {
      const text = await ctx.request.text()
      return { text, trailers: { ...ctx.trailers } }
    })
    await kit.serve(
      app,
      async (live) => {
        const trailers = Object.fromEntries(
          Array.from({ length: 32 }, (_, at) => [`x-${at}`, 'v'.repeat(at * 10)]),
        )
        const { text } = await Call.open(live.address, version, '/', { trailers }).end().whole()
        assert.deepEqual(JSON.parse(text), { text: '', trailers })
      },
      { http2: version === '2' },
    )
  })
}
