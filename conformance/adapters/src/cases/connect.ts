import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { App } from 'volant'
import { compress } from 'volant/compress'
import { connectOf, fromConnect } from 'volant/connect'
import { deferred, eventually, type Kit, type Live, request, unchanging } from '../kit.ts'

const large = randomBytes(10_000_000)
const streamed = { bodyMode: 'stream', maxBodySize: 16_000_000 } as const

function digest(bytes: Uint8Array): string {
  return createHash('sha1').update(bytes).digest('hex')
}

export function connectCases(kit: Kit): void {
  describe('connect middleware', () => {
    async function serve(build: (app: App) => void, run: (live: Live) => Promise<void>): Promise<void> {
      const app = kit.app()
      build(app)
      await kit.serve(app, run)
    }

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

    test('10 MB in and out, whole and piped', async () => {
      await serve(
        (app) => {
          app.get(
            '/whole',
            fromConnect((_, res) => res.end(large)),
          )
          app.get(
            '/piped',
            fromConnect((_, res) => {
              const parts = Array.from({ length: 100 }, (__, at) =>
                large.subarray(at * 100_000, (at + 1) * 100_000),
              )
              return pipeline(Readable.from(parts), res)
            }),
          )
          for (const [path, options] of [
            ['/up', { maxBodySize: 16_000_000 }],
            ['/up-streamed', streamed],
          ] as const) {
            app.post(
              path,
              options,
              fromConnect(async (req, res) => {
                const hash = createHash('sha1')
                for await (const chunk of req) hash.update(chunk as Buffer)
                res.end(`${hash.digest('hex')} ${String(req.complete)}`)
              }),
            )
          }
        },
        async (live) => {
          for (const path of ['/whole', '/piped'])
            assert.equal(digest((await live.ask(path)).body), digest(large))
          for (const path of ['/up', '/up-streamed']) {
            const { text } = await live.post(path, 'application/octet-stream', large)
            assert.equal(text, `${digest(large)} true`)
          }
        },
      )
    })

    test('the body is there for the context after a middleware has read it', async () => {
      const reads = fromConnect(async (req, _, next) => {
        let text = ''
        for await (const chunk of req) text += String(chunk)
        if (text.startsWith('{')) (req as unknown as { body: unknown }).body = { read: text.length }
        next()
      })
      await serve(
        (app) => {
          app.post('/', reads, (ctx) => ({ body: ctx.body, text: ctx.bodyText }))
        },
        async (live) => {
          assert.deepEqual((await live.post('/', 'text/plain', 'abc')).json(), { body: 'abc', text: 'abc' })
          const json = await live.post('/', 'application/json', '{"a":1}')
          assert.deepEqual(json.json(), { body: { read: 7 }, text: '{"a":1}' })
        },
      )
    })

    test('a slow reader stops the writer, and drain starts it again', async () => {
      let written = 0
      let drained = 0
      await serve(
        (app) => {
          app.get(
            '/',
            fromConnect((_, res) => {
              const chunk = Buffer.alloc(65_536)
              const go = (): void => {
                while (written < 30_000_000) {
                  written += chunk.length
                  if (!res.write(chunk)) return
                }
                res.end()
              }
              res.on('drain', () => {
                drained++
                go()
              })
              go()
            }),
          )
        },
        async (live) => {
          const wire = await live.connect()
          wire.socket.pause()
          wire.send(request('GET', '/'))
          await unchanging(() => written, 'the writer waits for its client')
          assert.ok(written < 20_000_000, `${written} bytes were written for a reader that reads nothing`)
          let received = 0
          wire.socket.removeAllListeners('data')
          wire.socket.on('data', (bytes: Buffer) => {
            received += bytes.length
          })
          wire.socket.resume()
          await eventually(() => received > 30_000_000, 'all bytes')
          assert.ok(drained > 0)
        },
      )
    })

    test('events of a reply, and of a client that leaves', async () => {
      const seen: string[] = []
      const listen = (req: IncomingMessage, res: ServerResponse): void => {
        for (const name of ['finish', 'close']) res.on(name, () => seen.push(`res ${name}`))
        for (const name of ['aborted', 'close']) req.on(name, () => seen.push(`req ${name}`))
        req.on('error', (error: Error & { code?: string }) => seen.push(`req error ${error.code}`))
        res.socket?.on('close', () => seen.push('socket close'))
      }
      const started = deferred()
      await serve(
        (app) => {
          app.get(
            '/own',
            fromConnect((req, res) => {
              listen(req, res)
              res.end('own')
            }),
          )
          app.get(
            '/merged',
            fromConnect((req, res, next) => {
              listen(req, res)
              next()
            }),
            () => 'merged',
          )
          app.get(
            '/wait',
            fromConnect((req, res) => {
              listen(req, res)
              started.resolve()
            }),
          )
        },
        async (live) => {
          for (const path of ['/own', '/merged']) {
            seen.length = 0
            await live.ask(path)
            await eventually(() => seen.includes('res close') && seen.includes('req close'), 'close')
            assert.deepEqual(seen.toSorted(), ['req close', 'res close', 'res finish', 'socket close'], path)
            assert.ok(seen.indexOf('res finish') < seen.indexOf('res close'))
          }
          seen.length = 0
          const wire = await live.connect()
          wire.send(request('GET', '/wait'))
          await started.promise
          wire.reset()
          await eventually(() => seen.includes('res close') && seen.includes('req close'), 'close')
          assert.deepEqual(seen.toSorted(), [
            'req aborted',
            'req close',
            'req error ECONNRESET',
            'res close',
            'socket close',
          ])
        },
      )
    })

    test('a pipeline into a client that leaves settles', async () => {
      const outcome = deferred<unknown>()
      await serve(
        (app) => {
          app.get(
            '/',
            fromConnect((_, res) => {
              const endless = new Readable({
                read() {
                  this.push(Buffer.alloc(65_536))
                },
              })
              pipeline(endless, res).then(
                () => outcome.resolve(null),
                (error: unknown) => outcome.resolve((error as { code: unknown }).code),
              )
            }),
          )
        },
        async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/'))
          await once(wire.socket, 'data')
          wire.reset()
          assert.equal(await outcome.promise, 'ERR_STREAM_PREMATURE_CLOSE')
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

    test('a store that never answers leaves the reply to the time limit of the route', async () => {
      const never = fromConnect((_, res, next) => {
        res.end = (() => res) as never
        next()
      })
      await serve(
        (app) => {
          app.get('/', { handlerTimeout: 50 }, never, () => 'never')
          app.get(
            '/no-next',
            { handlerTimeout: 50 },
            fromConnect(() => {}),
            () => 'never',
          )
        },
        async (live) => {
          for (const path of ['/', '/no-next']) assert.equal((await live.ask(path)).status, 503)
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

    test('mounts: the URL without the prefix, and what has two readings is 404', async () => {
      const show = fromConnect((req, res) => {
        const { url, originalUrl, baseUrl } = req as IncomingMessage & Record<string, string>
        res.end(JSON.stringify([url, originalUrl, baseUrl]))
      })
      await serve(
        (app) => {
          app.use('/files', show)
          app.group('/api', (api) => api.use('/:team/files', show))
        },
        async (live) => {
          assert.deepEqual((await live.ask('/files/a/b?c=%20d')).json(), [
            '/a/b?c=%20d',
            '/files/a/b?c=%20d',
            '/files',
          ])
          assert.deepEqual((await live.ask('/files')).json(), ['/', '/files', '/files'])
          assert.deepEqual((await live.ask('/files?x')).json(), ['/?x', '/files?x', '/files'])
          assert.deepEqual((await live.ask('/api/red/files/a')).json(), [
            '/a',
            '/api/red/files/a',
            '/api/red/files',
          ])
          for (const path of ['/files/a%2Fb', '/files/a%2fb', '/files/..%5Cb', '/files%2Fa', '//files/a']) {
            assert.equal((await live.ask(path)).status, 404, path)
          }
          assert.equal((await live.ask('/files/a%00')).status, 400)
        },
      )
    })

    test('the async context of a middleware is that of the handler and of its events', async () => {
      const storage = new AsyncLocalStorage<string>()
      const seen: unknown[] = []
      await serve(
        (app) => {
          app.use(fromConnect((req, _, next) => storage.run(req.url ?? '', next)))
          app.use(
            fromConnect((_, res, next) => {
              const bound = storage.getStore()
              res.on('finish', () => seen.push(bound))
              setImmediate(next)
            }),
          )
          app.get('/*', () => storage.getStore())
        },
        async (live) => {
          const replies = await Promise.all(['/a', '/b', '/c'].map((path) => live.ask(path)))
          assert.deepEqual(
            replies.map(({ text }) => text),
            ['/a', '/b', '/c'],
          )
          await eventually(() => seen.length === 3, 'three ends')
          assert.deepEqual(seen.toSorted(), ['/a', '/b', '/c'])
        },
      )
    })

    test('req and res of the context', async () => {
      await serve(
        (app) => {
          app.get('/*', (ctx) => {
            const { req, res } = connectOf(ctx)
            assert.equal(connectOf(ctx).req, req)
            res.setHeader('x-connect', String(req.headers['x-asked']))
            const { ip, protocol } = req as IncomingMessage & Record<string, unknown>
            return [req.method, req.url, req.httpVersion, ip, protocol, req.socket.remoteAddress === ip]
          })
        },
        async (live) => {
          const { text, headers } = await live.ask('/a?b', { headers: { 'x-asked': 'yes' } })
          assert.equal(
            text,
            `["GET","/a?b","${kit.version === '2' ? '2.0' : '1.1'}","127.0.0.1","${kit.scheme}",true]`,
          )
          assert.equal(headers['x-connect'], undefined)
        },
      )
    })
  })
}
