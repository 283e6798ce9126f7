import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { before, type Context, HTTPError, type Next } from 'volant'
import { deferred, eventually, type Kit, request, unchanging, within } from '../kit.ts'

export function streams(kit: Kit): void {
  describe('streamed replies', () => {
    test('the head and each chunk leave at once', kit.needs('streamed-head'), async () => {
      const app = kit.app()
      const gates = [deferred(), deferred()]
      app.get('/s', (ctx) => {
        const source = async function* () {
          await gates[0]?.promise
          yield 'one'
          await gates[1]?.promise
          yield 'two'
        }
        ctx.stream(source())
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/s'))
        const has = (text: string) => () => (wire.received.includes(text) ? true : undefined)
        await wire.until(has('\r\n\r\n'), 'the head')
        assert.equal(wire.received.includes('one'), false)
        gates[0]?.resolve()
        await wire.until(has('one'), 'the first chunk')
        gates[1]?.resolve()
        assert.equal((await wire.reply()).text, 'onetwo')
        assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
      })
    })

    describe('of a generator that was returned', () => {
      const around: [name: string, layer: (ctx: Context, next: Next) => unknown][] = [
        ['alone', before(() => {})],
        ['behind a middleware', (_, next) => next()],
        ['behind one that waits', async (_, next) => await next()],
      ]
      for (const [name, layer] of around) {
        test(`what it sets and throws before its first chunk counts (${name})`, async () => {
          const app = kit.app()
          app.get('/async', layer, async function* (ctx) {
            await sleep(1)
            ctx.header('x-rows', '2').header('content-type', 'text/csv').status(203)
            yield 'a\n'
            yield 'b\n'
          })
          app.get('/sync', layer, function* (ctx) {
            ctx.header('x-rows', '1')
            yield Buffer.from('a')
          })
          app.get('/inner', layer, (ctx) =>
            (async function* () {
              ctx.header('x-rows', '3')
              yield 'c'
            })(),
          )
          app.get('/empty', layer, async function* (ctx) {
            ctx.header('x-rows', '0')
            if (ctx.path === '/') yield 'x'
          })
          app.get('/gone', layer, async function* (ctx) {
            ctx.header('etag', '"x"')
            if (ctx.path === '/gone') throw new HTTPError(410, 'It is gone')
            yield 'x'
          })
          app.get('/broken', layer, function* (ctx) {
            if (ctx.path === '/broken') throw new Error('broken before it began')
            yield 'x'
          })
          app.get('/number', layer, function* () {
            yield 5 as never
          })
          app.get('/own', layer, async function* (ctx) {
            ctx.text('by itself')
            if (ctx.path === '/') yield 'x'
          })
          await kit.serve(app, async (live) => {
            const reported = kit.reports.length
            for (const [path, status, text, rows, type] of [
              ['/async', 203, 'a\nb\n', '2', 'text/csv'],
              ['/sync', 200, 'a', '1', 'application/octet-stream'],
              ['/inner', 200, 'c', '3', 'application/octet-stream'],
              ['/empty', 200, '', '0', 'application/octet-stream'],
              ['/own', 200, 'by itself', undefined, 'text/plain; charset=utf-8'],
            ] as const) {
              const reply = await live.ask(path)
              const injected = await app.inject(path)
              for (const { headers } of [reply, injected]) {
                assert.deepEqual([headers['x-rows'], headers['content-type']], [rows, type], path)
              }
              assert.deepEqual([reply.status, reply.text], [status, text])
              assert.deepEqual([injected.status, injected.text()], [status, text])
            }
            const gone = await live.ask('/gone')
            assert.deepEqual([gone.status, gone.headers['etag']], [410, undefined])
            assert.equal(kit.reports.length, reported)
            assert.equal((await live.ask('/broken')).status, 500)
            assert.match(String(kit.reports.pop()), /broken before it began/)
            assert.equal((await live.ask('/number')).status, 500)
            assert.match(
              String(kit.reports.pop()),
              /a chunk of the stream of GET \/number is a string or bytes, not 5/,
            )
            assert.equal(kit.reports.length, reported)
          })
        })
      }

      test('middleware sees its status after next(), and may answer its error', async () => {
        const app = kit.app()
        const seen: unknown[] = []
        app.use(async (ctx, next) => {
          try {
            await next()
            seen.push([ctx.replied, ctx.status()])
          } catch (error) {
            ctx.text(`caught ${(error as Error).message}`, 409)
          }
        })
        app.get('/a', async function* (ctx) {
          ctx.status(202)
          yield 'a'
        })
        app.get('/b', async function* (ctx) {
          if (ctx.path === '/b') throw new Error('early')
          yield 'b'
        })
        await kit.serve(app, async (live) => {
          assert.deepEqual([(await live.ask('/a')).text, seen], ['a', [[true, 202]]])
          const caught = await live.ask('/b')
          assert.deepEqual([caught.status, caught.text], [409, 'caught early'])
        })
        const plain = kit.app()
        plain.get('/c', () => {
          throw new HTTPError(418)
        })
        plain.onError(async function* (_, ctx) {
          ctx.header('x-error', 'yes')
          yield 'an error'
        })
        await kit.serve(plain, async (live) => {
          const reply = await live.ask('/c')
          assert.deepEqual([reply.status, reply.text, reply.headers['x-error']], [418, 'an error', 'yes'])
        })
      })

      test('for HEAD none of its code runs, and what it sets after a chunk is dropped', async () => {
        const app = kit.app()
        let ran = 0
        app.get('/s', async function* (ctx) {
          ran++
          yield 'a'
          ctx.header('x-late', '1')
          yield 'b'
        })
        await kit.serve(app, async (live) => {
          const head = await live.ask('/s', { method: 'HEAD' })
          assert.deepEqual([head.status, ran], [200, 0])
          const reply = await live.ask('/s')
          assert.deepEqual([reply.text, reply.headers['x-late']], ['ab', undefined])
          assert.match(String(kit.reports.pop()), /the header x-late was set after GET \/s had its reply/)
        })
      })

      for (const end of ['the client leaves', 'its time is over'] as const) {
        test(`${end} before its first chunk: it runs its finally, and nothing is sent`, async () => {
          const app = kit.app(end === 'its time is over' ? { limits: { handlerTimeout: 50 } } : {})
          const started = deferred()
          const done = deferred()
          const go = deferred()
          app.get('/s', async function* () {
            try {
              started.resolve()
              await go.promise
              yield 'late'
              yield 'never'
            } finally {
              done.resolve()
            }
          })
          await kit.serve(app, async (live) => {
            const reported = kit.reports.length
            const wire = (await live.connect()).send(request('GET', '/s'))
            await started.promise
            if (end === 'its time is over') assert.equal((await wire.reply()).status, 503)
            else {
              wire.reset()
              await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
            }
            go.resolve()
            await within(done.promise, 30_000, 'the end of the generator')
            assert.equal(kit.reports.length, reported)
          })
        })
      }
    })

    test('with a length it is not chunked, and the connection stays', async () => {
      const app = kit.app()
      app.get('/s', (ctx) => ctx.stream(['abc', 'de'], { length: 5, type: 'text/plain' }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let round = 0; round < 2; round++) {
          const reply = await wire.send(request('GET', '/s')).reply()
          assert.equal(reply.headers['content-length'], '5')
          assert.equal(reply.headers['transfer-encoding'], undefined)
          assert.equal(reply.text, 'abcde')
        }
      })
    })

    for (const kind of ['a generator', 'a web stream', 'a Node.js stream'] as const) {
      test(`${kind} waits for a slow reader, and 30 MB arrive whole`, async () => {
        const app = kit.app()
        let produced = 0
        const total = 30_000_000
        const block = () => {
          produced += 100_000
          return Buffer.alloc(100_000, 'z')
        }
        app.get('/s', () => {
          if (kind === 'a generator') {
            return (function* () {
              while (produced < total) yield block()
            })()
          }
          if (kind === 'a web stream') {
            return new ReadableStream<Uint8Array>({
              pull(controller) {
                if (produced < total) controller.enqueue(block())
                else controller.close()
              },
            })
          }
          return new Readable({
            read() {
              this.push(produced < total ? block() : null)
            },
          })
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.socket.pause()
          wire.send(request('GET', '/s'))
          await unchanging(() => produced, 'the source waits for its client')
          assert.ok(produced < 16_000_000, `${produced} bytes were produced for nobody`)
          let received = 0
          wire.socket.removeAllListeners('data')
          wire.socket.on('data', (bytes: Buffer) => {
            received += bytes.length
          })
          wire.socket.resume()
          await eventually(() => received > total, 'all bytes')
        })
      })
    }

    for (const kind of ['a generator', 'a web stream', 'a Node.js stream'] as const) {
      test(`${kind} is cancelled when the client leaves`, async () => {
        const app = kit.app()
        const cancelled = deferred()
        app.get('/s', () => {
          if (kind === 'a generator') {
            return (async function* () {
              try {
                for (;;) {
                  yield 'x'
                  await sleep(5)
                }
              } finally {
                cancelled.resolve()
              }
            })()
          }
          if (kind === 'a web stream') {
            return new ReadableStream<Uint8Array>({
              start: (controller) => controller.enqueue(Buffer.from('x')),
              pull: () => new Promise(() => {}),
              cancel: () => cancelled.resolve(),
            })
          }
          const stream = new Readable({ read() {} })
          stream.push('x')
          stream.on('close', () => cancelled.resolve())
          return stream
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/s'))
          await wire.until(() => (wire.received.includes('\r\n1\r\nx') ? true : undefined), 'a chunk')
          wire.reset()
          await within(cancelled.promise, 8_000, 'the cancel')
          await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
        })
      })
    }

    test('a client that leaves while the server waits for it to read', async () => {
      const app = kit.app()
      const cancelled = deferred()
      let made = 0
      app.get('/s', function* () {
        try {
          for (; ; made++) yield Buffer.alloc(65_536)
        } finally {
          cancelled.resolve()
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/s'))
        await unchanging(() => made, 'the generator waits for its client')
        wire.reset()
        await within(cancelled.promise, 8_000, 'the cancel')
        await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
      })
    })

    test('HEAD and 304 cancel the source unread', async () => {
      const app = kit.app()
      let cancelled = 0
      let read = 0
      const source = () =>
        new ReadableStream<Uint8Array>(
          {
            pull(controller) {
              read++
              controller.enqueue(Buffer.from('x'))
            },
            cancel() {
              cancelled++
            },
          },
          { highWaterMark: 0 },
        )
      app.get('/s', source)
      app.get('/304', (ctx) => ctx.stream(source(), { status: 304 }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send(request('HEAD', '/s')).reply('HEAD')).status, 200)
        assert.equal((await wire.send(request('GET', '/304')).reply()).status, 304)
        assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
        await eventually(() => cancelled === 2, 'both cancelled')
        assert.equal(read, 0)
      })
    })

    test('a buffer may be reused once it was yielded', async () => {
      const app = kit.app()
      app.get('/s', function* () {
        const buffer = Buffer.alloc(50_000)
        for (let at = 0; at < 40; at++) {
          buffer.fill(65 + (at % 26))
          yield buffer
        }
      })
      await kit.serve(app, async (live) => {
        const { body } = await live.ask('/s')
        assert.equal(body.length, 2_000_000)
        for (let at = 0; at < 40; at++) assert.equal(body[at * 50_000], 65 + (at % 26))
      })
    })

    test('a large chunk arrives whole, though nothing follows it', async () => {
      const app = kit.app()
      const gate = deferred()
      app.get('/s', async function* () {
        yield Buffer.alloc(20_000_000)
        await gate.promise
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        let received = 0
        wire.socket.removeAllListeners('data')
        wire.socket.on('data', (bytes: Buffer) => {
          received += bytes.length
        })
        wire.send(request('GET', '/s'))
        await eventually(() => received > 20_000_000, 'all bytes')
        gate.resolve()
      })
    })

    test('HTTP/1.0 has the stream until the close', kit.needs('http-1.0'), async () => {
      const app = kit.app()
      app.get('/s', function* () {
        yield 'a'
        yield 'b'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('GET /s HTTP/1.0\r\n\r\n')
        const reply = await wire.reply()
        assert.equal(reply.text, 'ab')
        assert.equal(reply.headers['transfer-encoding'], undefined)
      })
    })
  })
}
