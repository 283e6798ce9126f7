import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context } from 'volant'
import { fromConnect } from 'volant/connect'
import { Call, versionsOf } from '../../call.ts'
import { deferred, eventually, type Kit } from '../../kit.ts'

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

/** Trailer fields of replies. */
export function trailersOfReplies(kit: Kit): void {
  for (const version of versionsOf(kit)) {
    describe(`trailers of replies over HTTP/${version}`, kit.needs('trailers'), () => {
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
    })
  }
}
