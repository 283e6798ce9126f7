import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { compress } from 'volant/compress'
import { fromConnect } from 'volant/connect'
import { type Kit } from '../../kit.ts'
import { serving } from './serving.ts'

export function repliesOfConnect(kit: Kit): void {
  describe('connect middleware', () => {
    const serve = serving(kit)

    test('headers, status and body of a reply by res', async () => {
      await serve(
        (app) => {
          app.use((ctx, next) => {
            ctx.header('x-before', '1')
            return next()
          })
          app.get(
            '/end',
            fromConnect((_, res) => {
              res.statusCode = 201
              res.setHeader('X-Own', ['a', 'b'])
              res.setHeader('Connection', 'close')
              res.end('ü')
            }),
          )
          app.get(
            '/parts',
            fromConnect((req, res) => {
              res.writeHead(200, 'Fine', { 'content-type': 'text/plain', 'content-length': 4 })
              res.write(Buffer.from('ab'))
              setImmediate(() => res.end(req.url?.slice(-2)))
            }),
          )
          app.get(
            '/none',
            fromConnect((_, res) => {
              res.writeHead(204)
              res.end()
            }),
          )
        },
        async (live) => {
          const end = await live.ask('/end')
          assert.deepEqual(
            [
              end.status,
              end.headers['x-own'],
              end.headers['x-before'],
              end.headers['content-length'],
              end.text,
            ],
            [201, 'a, b', '1', '2', 'ü'],
          )
          const parts = await live.ask('/parts?cd')
          // HTTP/2 has no reason phrase (RFC 9113 §8.3.2).
          const reason = parts.version === 'HTTP/2' ? '' : 'OK'
          assert.deepEqual([parts.text, parts.headers['content-length'], parts.reason], ['abcd', '4', reason])
          const head = await live.ask('/parts?cd', { method: 'HEAD' })
          assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '4', 0])
          assert.equal((await live.ask('/none')).status, 204)
        },
      )
    })

    test('what a middleware sets is sent with a reply of the context', async () => {
      await serve(
        (app) => {
          app.use(
            fromConnect((_, res, next) => {
              res.setHeader('X-Powered-By', 'tests')
              res.statusCode = 203
              next()
            }),
          )
          app.get('/', () => 'hello')
        },
        async (live) => {
          const { status, headers, text } = await live.ask('/')
          assert.deepEqual([status, headers['x-powered-by'], text], [203, 'tests', 'hello'])
        },
      )
    })

    test('no line feed of a middleware reaches the wire', async () => {
      const codes: unknown[] = []
      const bad: [string, unknown][] = [
        ['x', 'a\r\nset-cookie: b'],
        ['x', ['fine', 'a\nb']],
        ['x', 'a\0b'],
        ['x', '\u{1f600}'],
        ['x\r\ny', 'a'],
        ['x y', 'a'],
        ['', 'a'],
        ['x', undefined],
      ]
      const attempt = (run: () => void): void => {
        try {
          run()
          codes.push('taken')
        } catch (error) {
          codes.push((error as { code: unknown }).code)
        }
      }
      await serve(
        (app) => {
          app.get(
            '/',
            fromConnect((_, res) => {
              for (const [name, value] of bad) attempt(() => res.setHeader(name, value as string))
              for (const [name, value] of bad.slice(0, 4))
                attempt(() => res.appendHeader(name, value as string))
              attempt(() => res.writeHead(200, { x: 'a\r\nb' }))
              attempt(() => res.writeEarlyHints({ link: '</a>\r\nx: y' }))
              res.statusMessage = 'a\r\nx: y'
              res.end('sent')
            }),
          )
        },
        async (live) => {
          const { text, raw } = await live.ask('/')
          assert.equal(text, 'sent')
          assert.equal(
            raw.some(([name]) => /^(?:x|set-cookie|y)$/i.test(name)),
            false,
          )
          const invalid = 'ERR_INVALID_CHAR'
          const token = 'ERR_INVALID_HTTP_TOKEN'
          assert.deepEqual(codes.slice(0, 8), [
            invalid,
            invalid,
            invalid,
            invalid,
            token,
            token,
            token,
            'ERR_HTTP_INVALID_HEADER_VALUE',
          ])
          assert.deepEqual(codes.slice(8, 13), Array(5).fill(invalid))
          assert.equal(codes[13], 'E_BAD_HEADER')
        },
      )
    })

    test('a reply of the context is played into methods that were replaced', async () => {
      const slow = fromConnect((_, res, next) => {
        const { end } = res
        res.end = ((...args: unknown[]) => {
          setImmediate(() => {
            if (!res.headersSent) res.setHeader('x-late', 'yes')
            end.apply(res, args as never)
          })
          return res
        }) as never
        next()
      })
      const upper = fromConnect((_, res, next) => {
        const { write } = res
        res.write = ((chunk: unknown) => write.call(res, String(chunk).toUpperCase(), 'utf8')) as never
        next()
      })
      await serve(
        (app) => {
          app.get('/whole', slow, (ctx) => ctx.json({ a: 1 }, 202))
          app.get('/error', slow, () => {
            throw Object.assign(new Error('no'), { status: 500 })
          })
          app.get('/stream', upper, slow, (ctx) =>
            ctx.stream(['a', 'b', 'c'], { type: 'text/plain', length: 3 }),
          )
        },
        async (live) => {
          const whole = await live.ask('/whole')
          assert.deepEqual(
            [whole.status, whole.headers['x-late'], whole.headers['content-type'], whole.text],
            [202, 'yes', 'application/json; charset=utf-8', '{"a":1}'],
          )
          const head = await live.ask('/whole', { method: 'HEAD' })
          assert.deepEqual(
            [head.status, head.headers['x-late'], head.headers['content-length']],
            [202, 'yes', '7'],
          )
          const error = await live.ask('/error')
          assert.deepEqual([error.status, error.headers['x-late']], [500, 'yes'])
          const stream = await live.ask('/stream')
          assert.deepEqual([stream.text, stream.headers['content-length']], ['ABC', '3'])
        },
      )
    })

    test('a middleware that encodes keeps compress() away', async () => {
      const encoded = Buffer.from('H4sIAAAAAAAAA0vMI4wAAOBHAvpkAAAA', 'base64')
      await serve(
        (app) => {
          app.use(compress({ threshold: 0, encodings: ['gzip'] }))
          app.get(
            '/encoded',
            fromConnect((_, res) => {
              res.setHeader('content-type', 'text/plain')
              res.setHeader('content-encoding', 'gzip')
              res.end(encoded)
            }),
          )
          app.get(
            '/plain',
            fromConnect((_, res) => {
              res.setHeader('content-type', 'text/plain')
              res.end('plain '.repeat(1_000))
            }),
          )
        },
        async (live) => {
          const headers = { 'accept-encoding': 'gzip' }
          const given = await live.ask('/encoded', { headers })
          assert.deepEqual([given.headers['content-encoding'], given.body], ['gzip', encoded])
          const plain = await live.ask('/plain', { headers })
          assert.deepEqual(
            [plain.headers['content-encoding'], gunzipSync(plain.body).toString()],
            ['gzip', 'plain '.repeat(1_000)],
          )
        },
      )
    })
  })
}
