/** HTTP/2 from the view of handlers and of clients, over TLS and by prior knowledge. */
import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect as connectPlain, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { TestAuthority } from '@volant/test-kit'
import type { Address, App, ListenOptions } from 'volant'
import { Call } from '../call.ts'
import { getFrame, goawayFrame, openRaw, resetFrame } from '../http2-raw.ts'
import { deferred, eventually, type Kit, readSlowly, within } from '../kit.ts'

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly hints: readonly IncomingHttpHeaders[]
}

export function http2Cases(kit: Kit): void {
  for (const over of ['TLS', 'prior knowledge'] as const) {
    describe(`HTTP/2 by ${over}`, kit.needs('http2'), () => {
      let authority: TestAuthority
      let options: ListenOptions
      before(async () => {
        authority = await TestAuthority.make()
        const { cert, key } = authority.server(['one.example'])
        options = over === 'TLS' ? { tls: { cert, key } } : { http2: true }
      })

      const open = (address: Address): ClientHttp2Session =>
        connect(`${over === 'TLS' ? 'https' : 'http'}://127.0.0.1:${address.port}`, {
          ca: authority.ca,
          servername: 'one.example',
        }).on('error', () => {})

      const serve = async (
        app: App,
        run: (client: ClientHttp2Session, address: Address) => Promise<void>,
      ): Promise<void> => {
        const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
        const client = open(address)
        try {
          await run(client, address)
        } finally {
          client.destroy()
          await app.close()
        }
      }

      test('a request is what it is on HTTP/1.1, but for its version', async () => {
        const app = kit.app()
        app.get('/a/:id', (ctx) => ({
          version: ctx.httpVersion,
          protocol: ctx.protocol,
          host: ctx.host,
          header: ctx.headers.host,
          id: ctx.params.id,
          query: ctx.query,
          cookies: ctx.cookies,
          alpn: ctx.tls?.alpn ?? null,
        }))
        await serve(app, async (client) => {
          const reply = await ask(client, {
            ':path': '/a/b%20c?x=1',
            ':authority': 'one.example',
            cookie: ['a=1', 'b=2'] as unknown as string,
          })
          assert.deepEqual(JSON.parse(reply.body.toString()), {
            version: '2',
            protocol: over === 'TLS' ? 'https' : 'http',
            host: 'one.example',
            header: 'one.example',
            id: 'b c',
            query: { x: '1' },
            cookies: { a: '1', b: '2' },
            alpn: over === 'TLS' ? 'h2' : null,
          })
          assert.equal(reply.headers['connection'], undefined)
          assert.equal(reply.headers['content-length'], String(reply.body.length))
          assert.notEqual(reply.headers['date'], undefined)
        })
      })

      test('clients of HTTP/1.1 are served by the same port', async () => {
        const app = kit.app()
        app.get('/', (ctx) => ctx.httpVersion)
        await serve(app, async (_client, address) => {
          const port = address.port as number
          const byTls = { port, ca: authority.ca, servername: 'one.example', ALPNProtocols: ['http/1.1'] }
          const socket = over === 'TLS' ? connectTls(byTls) : connectPlain(port, '127.0.0.1')
          // The connection preface begins with a P, too.
          for (const piece of ['G', 'ET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'])
            socket.write(piece)
          let text = ''
          for await (const chunk of socket) text += String(chunk)
          assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n1\.1$/)
        })
      })

      test('a connection over a Unix socket that says nothing is ended, and the app goes on', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'volant-'))
        const app = kit.app({ limits: { headersTimeout: 300, tlsHandshakeTimeout: 300 } })
        try {
          const { path } = await app.listen({ path: join(folder, 'app.sock'), ...options })
          const silent = connectPlain(path as string)
            .on('error', () => {})
            .resume()
          await within(once(silent, 'close'), 30_000, 'the end of the connection')
          await eventually(() => app.stats().connections === 0, 'no connection')
        } finally {
          await app.close()
          rmSync(folder, { recursive: true })
        }
      })

      test('a listen that fails leaves no timer behind', async () => {
        const timers = new Map<number, { _repeat?: number | null }>()
        const hook = createHook({
          init: (id, type, _, resource) => void (type === 'Timeout' && timers.set(id, resource)),
          destroy: (id) => void timers.delete(id),
        })
        const first = kit.app()
        const { port } = await first.listen({ port: 0, host: '127.0.0.1' })
        try {
          hook.enable()
          await assert.rejects(kit.app().listen({ port: port as number, host: '127.0.0.1', ...options }))
          const intervals = () => [...timers.values()].filter(({ _repeat }) => typeof _repeat === 'number')
          await eventually(() => intervals().length === 0, 'no interval')
        } finally {
          hook.disable()
          await first.close()
        }
      })

      test('404, 405, HEAD and 413 are what they are on HTTP/1.1', async () => {
        const app = kit.app()
        app.get('/', () => 'hello')
        app.post('/small', { maxBodySize: 10 }, () => 'small')
        await serve(app, async (client) => {
          assert.equal((await ask(client, { ':path': '/none' })).status, 404)
          assert.equal((await ask(client, { ':method': 'POST' }, 'x')).status, 405)
          const head = await ask(client, { ':method': 'HEAD' })
          assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '5', 0])
          const large = await ask(
            client,
            { ':method': 'POST', ':path': '/small', 'content-length': 11 },
            'x'.repeat(11),
          )
          assert.equal(large.status, 413)
          const streamed = await ask(client, { ':method': 'POST', ':path': '/small' }, 'x'.repeat(11))
          assert.equal(streamed.status, 413)
          assert.equal((await ask(client, {})).status, 200)
        })
      })

      test('many streams of one connection are answered, also those past maxStreams', async () => {
        const app = kit.app({ limits: { maxStreams: 8 } })
        let open_ = 0
        let most = 0
        app.get('/', async () => {
          most = Math.max(most, ++open_)
          await new Promise((resolve) => setImmediate(resolve))
          open_--
          return 'x'
        })
        await serve(app, async (client) => {
          // A client may open any number of streams before it has read the SETTINGS of the server.
          await once(client, 'remoteSettings')
          const replies = await Promise.all(Array.from({ length: 200 }, () => ask(client, {})))
          assert.ok(replies.every(({ status }) => status === 200))
          assert.ok(most > 1 && most <= 8, `${most} at once`)
        })
      })

      test('bodies are collected and streamed both ways, and one that is not read holds up no other', async () => {
        const app = kit.app()
        const gate = deferred()
        app.post('/length', { maxBodySize: 2_000_000 }, (ctx) => ({ length: ctx.bodyBytes.length }))
        app.post('/back', { bodyMode: 'stream', maxBodySize: 2_000_000 }, (ctx) => ctx.stream(ctx.bodyStream))
        app.post('/wait', { bodyMode: 'stream', maxBodySize: 2_000_000 }, async () => {
          await gate.promise
          return 'unread'
        })
        await serve(app, async (client) => {
          const body = Buffer.alloc(1_500_000, 'abcdefg')
          const stalled = ask(client, { ':method': 'POST', ':path': '/wait' }, body.subarray(0, 200_000))
          const post = (path: string) => ask(client, { ':method': 'POST', ':path': path }, body)
          assert.deepEqual(JSON.parse((await post('/length')).body.toString()), { length: body.length })
          assert.ok((await post('/back')).body.equals(body))
          gate.resolve()
          assert.equal((await stalled).body.toString(), 'unread')
        })
      })

      test('a reset aborts ctx.signal, and the other streams go on', async () => {
        const app = kit.app()
        const begun = deferred()
        const aborted = deferred()
        app.get('/wait', async (ctx) => {
          ctx.signal.addEventListener('abort', () => aborted.resolve())
          begun.resolve()
          await aborted.promise
        })
        app.get('/', () => 'fine')
        await serve(app, async (client) => {
          const stream = client.request({ ':path': '/wait' }).on('error', () => {})
          await begun.promise
          stream.close(constants.NGHTTP2_CANCEL)
          await within(aborted.promise, 30_000, 'the abort of ctx.signal')
          assert.equal((await ask(client, {})).body.toString(), 'fine')
          await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
        })
      })

      test('early hints and repeated fields arrive, and a priority is taken', async () => {
        const app = kit.app()
        app.get('/', (ctx) => {
          ctx.earlyHints({ link: ['</a>; rel=preload', '</b>; rel=preload'] })
          ctx.append('set-cookie', 'a=1').append('set-cookie', 'b=2').append('x-a', '1').append('x-a', '2')
          return 'x'
        })
        await serve(app, async (client) => {
          const reply = await ask(client, { priority: 'u=1, i' })
          assert.deepEqual(
            reply.hints.map((each) => each[':status']),
            [103],
          )
          assert.equal(reply.hints[0]?.['link'], '</a>; rel=preload, </b>; rel=preload')
          assert.deepEqual(reply.headers['set-cookie'], ['a=1', 'b=2'])
          assert.equal(reply.headers['x-a'], '1, 2')
        })
      })

      test('more than maxHeaders fields are 431', async () => {
        const app = kit.app({ limits: { maxHeaders: 20 } })
        app.get('/', () => 'x')
        await serve(app, async (client) => {
          const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x-${at}`, '1']))
          assert.equal((await ask(client, many)).status, 431)
          assert.equal((await ask(client, {})).status, 200)
        })
      })

      for (const [when, limits, kilobytes] of [
        ['is past drainLimit', { drainLimit: 1_024 }, 64],
        ['takes longer than drainTimeout', { drainTimeout: 100 }, 1],
      ] as const) {
        test(`a reply is complete, with its trailers, where the unread body ${when}`, async () => {
          const app = kit.app({ limits })
          app.post('/short', { bodyMode: 'stream' }, (ctx) => ctx.trailer('x-a', '1').stream(['short']))
          app.post('/long', { bodyMode: 'stream' }, (ctx) =>
            ctx.trailer('x-a', '1').text('x'.repeat(2_000_000)),
          )
          await serve(app, async (_client, address) => {
            for (const [path, length] of [
              ['/short', 5],
              ['/long', 2_000_000],
            ] as const) {
              const call = Call.open(address, '2', path)
              call.write(Buffer.alloc(kilobytes * 1_024))
              await call.head()
              // The window of the client has no room for more until the reply is read.
              await sleep(400)
              const { text, trailers } = await call.whole()
              assert.deepEqual([text.length, trailers], [length, { 'x-a': '1' }])
            }
          })
        })
      }

      test('a stream that fails after its head is reset, and no other stream with it', async () => {
        const app = kit.app()
        app.get('/broken', (ctx) =>
          ctx.stream(
            (async function* () {
              yield 'begun'
              throw new Error('broken')
            })(),
          ),
        )
        app.get('/', () => 'fine')
        await serve(app, async (client) => {
          await assert.rejects(ask(client, { ':path': '/broken' }))
          assert.equal((await ask(client, {})).body.toString(), 'fine')
        })
      })

      test('a close serves the streams that are open and loses none', async () => {
        const app = kit.app()
        const gate = deferred()
        let begun = 0
        app.get('/', async () => {
          begun++
          await gate.promise
          return 'served'
        })
        await serve(app, async (client) => {
          const open = Array.from({ length: 20 }, () => ask(client, {}))
          await eventually(() => begun === 20, 'the handlers')
          let goaways = 0
          client.on('goaway', () => goaways++)
          const closed = app.close()
          await eventually(() => goaways > 0, 'GOAWAY')
          gate.resolve()
          const replies = await within(Promise.all(open), 30_000, 'the replies')
          assert.deepEqual(new Set(replies.map(({ body }) => body.toString())), new Set(['served']))
          await within(closed, 30_000, 'the close')
        })
      })

      test('the connection of a client that never ends it is ended: by its GOAWAY, and by http2IdleTimeout', async () => {
        const app = kit.app({ limits: { http2IdleTimeout: 1_000, drainTimeout: 300 } })
        app.get('/', () => 'fine')
        const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
        const clients: Socket[] = []
        try {
          for (const says of [goawayFrame(), Buffer.alloc(0)]) {
            const client = await openRaw(address)
            clients.push(client)
            client.resume()
            client.write(Buffer.concat([getFrame(1, '/', over === 'TLS'), says]))
          }
          await eventually(() => app.stats().requests === 2, 'two requests')
          await eventually(() => app.stats().connections === 0, 'the end of the connections')
        } finally {
          for (const client of clients) client.destroy()
          await app.close()
        }
      })

      test('a client with wide windows that does not read is cut off after sendTimeout', async () => {
        const app = kit.app({ limits: { sendTimeout: 300, drainTimeout: 300 } })
        app.get('/', function* () {
          for (;;) yield Buffer.alloc(65_536)
        })
        const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
        const client = await openRaw(address)
        try {
          client.pause()
          client.write(getFrame(1, '/', over === 'TLS'))
          await eventually(() => app.stats().inFlight === 1, 'the request')
          await eventually(() => app.stats().connections === 0, 'the end of the connection')
        } finally {
          client.destroy()
          await app.close()
        }
      })

      test('sendTimeout leaves a client alone that reads slowly but steadily', async () => {
        const long = Buffer.alloc(24_000_000)
        let isWhole = false
        // A client that stands still for once is late: then one that reads more slowly has a longer time.
        for (const sendTimeout of [1_000, 4_000, 16_000]) {
          const app = kit.app({ limits: { sendTimeout } })
          app.get('/', () => long)
          const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
          const client = await openRaw(address)
          try {
            client.write(getFrame(1, '/', over === 'TLS'))
            isWhole = await readSlowly(client, long.length, sendTimeout / 100)
          } finally {
            client.destroy()
            await app.close()
          }
          if (isWhole) break
        }
        assert.ok(isWhole, 'the whole reply')
      })

      test('long replies leave room for other requests of their connection', async () => {
        const app = kit.app()
        const long = Buffer.alloc(15_000_000)
        app.get('/', () => long)
        await serve(app, async (client) => {
          const replies = await Promise.all([ask(client, {}), ask(client, {}), ask(client, {})])
          for (const { body } of replies) assert.equal(body.length, long.length)
        })
      })

      test('a client that resets its streams without end is cut off', async () => {
        const app = kit.app({ limits: { maxStreamResets: 20 } })
        let handled = 0
        app.get('/', async (ctx) => {
          handled++
          await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        })
        await serve(app, async (client) => {
          const storm = setInterval(() => {
            for (let each = 0; each < 20 && !client.destroyed && !client.closed; each++)
              client
                .request({})
                .on('error', () => {})
                .close(constants.NGHTTP2_CANCEL)
          }, 1)
          try {
            // The client of node:http2 may not notice meanwhile that the connection has ended.
            await eventually(() => handled > 0 && app.stats().connections === 0, 'the end of the connection')
          } finally {
            clearInterval(storm)
          }
          assert.ok(handled < 500, `${handled} handlers`)
        })
      })

      test('replies that wait for a slow client are no resets', async () => {
        const app = kit.app({ limits: { maxStreamResets: 1, keepAliveTimeout: 1_000 } })
        const reply = Buffer.alloc(65_536)
        app.get('/', () => reply)
        const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
        const client = await openRaw(address)
        client.pause()
        try {
          const streams = Array.from({ length: 90 }, (_, at) => 2 * at + 1)
          for (const stream of streams) client.write(getFrame(stream, '/', over === 'TLS'))
          await eventually(() => app.stats().requests > 20, 'the requests')
          // This is longer than the interval at which the server checks its connections.
          await sleep(400)
          assert.ok(await readSlowly(client, streams.length * reply.length), 'all replies')
        } finally {
          client.destroy()
          await app.close()
        }
      })

      test('a client that has no window for replies and resets with NO_ERROR is cut off', async () => {
        const app = kit.app({ limits: { maxStreamResets: 20, maxStreams: 10 } })
        let handled = 0
        app.get('/', () => `handled ${++handled}`)
        const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
        const client = await openRaw(address, 0)
        client.resume()
        let stream = 1
        const storm = setInterval(() => {
          for (let each = 0; each < 20 && client.writable; each++, stream += 2)
            client.write(
              Buffer.concat([
                getFrame(stream, '/', over === 'TLS'),
                resetFrame(stream, constants.NGHTTP2_NO_ERROR),
              ]),
            )
        }, 1)
        try {
          await eventually(() => handled > 0 && app.stats().connections === 0, 'the end of the connection')
          // A few reads of the connection can bring this many requests.
          assert.ok(handled < 10_000, `${handled} handlers`)
        } finally {
          clearInterval(storm)
          client.destroy()
          await app.close()
        }
      })
    })
  }
}

function ask(
  client: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Uint8Array,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = client.request({ ':path': '/', ...headers }, { endStream: body === undefined })
    const parts: Buffer[] = []
    const hints: IncomingHttpHeaders[] = []
    let head: IncomingHttpHeaders = {}
    stream.on('headers', (fields) => hints.push(fields))
    stream.on('response', (fields) => (head = fields))
    stream.on('data', (chunk: Buffer) => parts.push(chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) return reject(new Error(`reset: ${stream.rstCode}`))
      resolve({ status: Number(head[':status']), headers: head, body: Buffer.concat(parts), hints })
    })
    stream.on('close', () => reject(new Error('closed without a reply')))
    if (body !== undefined) stream.end(body)
  })
}
