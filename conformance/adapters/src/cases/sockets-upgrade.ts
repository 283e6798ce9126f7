import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import {
  before,
  type Context,
  createApp,
  etag,
  HTTPError,
  middleware,
  requestId,
  securityHeaders,
  type VolantError,
} from 'volant'
import { compress } from 'volant/compress'
import { fromConnect } from 'volant/connect'
import { rateLimit } from 'volant/rate-limit'
import { deferred, eventually, type Kit, request } from '../kit.ts'
import { frame, handshake, Opcode, Peer } from '../peer.ts'
import type { WireReply } from '../wire.ts'

/** How a request becomes a WebSocket, and what refuses it: each refusal is an ordinary reply, and HTTP goes on. */
export function socketUpgrades(kit: Kit): void {
  /** Asks for a WebSocket, checks that the reply refuses it and that the connection goes on, and gives the reply. */
  async function refused(
    app: ReturnType<Kit['app']>,
    path: string,
    headers: Record<string, string | undefined> = {},
  ): Promise<WireReply> {
    let reply: WireReply | undefined
    app.get('/after', () => 'after')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      const fields = Object.entries({ ...handshake, ...headers }).filter(([, value]) => value !== undefined)
      wire.send(request('GET', path, Object.fromEntries(fields) as Record<string, string>))
      reply = await wire.reply()
      wire.send(request('GET', '/after'))
      assert.equal((await wire.reply()).text, 'after')
      assert.equal(app.stats().sockets, 0)
    })
    return reply as WireReply
  }

  const codeOf = (reply: WireReply): unknown => (reply.json() as { code: unknown }).code

  describe('the upgrade to a WebSocket', () => {
    test('the chain of the route runs first, and its headers and cookies are in the 101', async () => {
      const app = kit.app()
      const order: unknown[] = []
      app.use(async (ctx, next) => {
        order.push('in')
        ctx.header('x-outer', 'é')
        await next()
        order.push(['out', ctx.status()])
      })
      app.onSend((ctx, reply) => {
        order.push(['send', reply.status, reply.body, reply.length])
        reply.headers.set('x-sent', ctx.path)
      })
      const info = deferred<unknown>()
      app.onResponse((ctx, { status, aborted }) => info.resolve([ctx.pattern, status, aborted]))
      app.ws('/a/:id', {
        upgrade(ctx) {
          order.push('upgrade')
          ctx.cookie('one', '1').cookie('two', '2')
        },
        open: () => void order.push('open'),
      })
      await kit.serve(app, async (live) => {
        const { reply } = await Peer.open(live, '/a/1')
        assert.equal(reply.reason, 'Switching Protocols')
        assert.equal(reply.headers['x-outer'], 'é')
        assert.equal(reply.headers['x-sent'], '/a/1')
        assert.equal(reply.raw.filter(([name]) => name.toLowerCase() === 'set-cookie').length, 2)
        for (const name of ['content-length', 'content-type', 'transfer-encoding'])
          assert.equal(reply.headers[name], undefined, name)
        assert.deepEqual(await info.promise, ['/a/:id', 101, false])
      })
      assert.deepEqual(order, ['in', 'upgrade', ['send', 101, null, 0], 'open', ['out', 101]])
    })

    test('app.get and app.ws share a path, and a WebSocket is in the way of nothing', async () => {
      const app = kit.app()
      app.get('/chat/:room', (ctx) => `page of ${ctx.params.room}`)
      app.post('/chat/:room', () => 'posted')
      app.ws('/chat/:room', {
        upgrade: (ctx) => ctx.params.room,
        open: (ws) => ws.send(ws.data),
      })
      app.get('/*', () => 'anything')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/chat/a')).text, 'page of a')
        assert.equal((await live.ask('/chat/a', { method: 'POST' })).text, 'posted')
        assert.equal(await (await Peer.open(live, '/chat/b')).text(), 'b')
        // No other route answers who asks for a WebSocket.
        const none = await live.ask('/other', { headers: { ...handshake, connection: 'upgrade, close' } })
        assert.deepEqual(
          [none.status, codeOf(none), none.headers['upgrade']],
          [426, 'E_UPGRADE_REQUIRED', 'HTTP/1.1'],
        )
      })
    })

    for (const method of ['GET', 'HEAD']) {
      test(`a plain ${method} of a path that has a WebSocket alone is 426`, async () => {
        const app = kit.app()
        app.ws('/chat/:room', {})
        app.post('/chat/:room', () => 'posted')
        await kit.serve(app, async (live) => {
          const reply = await live.ask('/chat/a', { method })
          assert.deepEqual([reply.status, reply.headers['upgrade']], [426, 'websocket'])
          assert.match(reply.headers['connection'] ?? '', /upgrade/i)
          assert.equal(reply.headers['sec-websocket-version'], '13')
          assert.equal((await live.ask('/nowhere', { method })).status, 404)
          assert.equal((await live.ask('/chat/a', { method: 'POST' })).text, 'posted')
        })
      })
    }

    const faults: [string, Record<string, string | undefined>, number, string][] = [
      ['another version', { 'sec-websocket-version': '8' }, 426, 'E_WEBSOCKET_VERSION'],
      ['no version', { 'sec-websocket-version': undefined }, 426, 'E_WEBSOCKET_VERSION'],
      ['no key', { 'sec-websocket-key': undefined }, 400, 'E_WEBSOCKET_KEY'],
      ['a key of 15 bytes', { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAA' }, 400, 'E_WEBSOCKET_KEY'],
      [
        'a key with bits that are lost',
        { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZR==' },
        400,
        'E_WEBSOCKET_KEY',
      ],
      ['malformed subprotocols', { 'sec-websocket-protocol': 'a,,b' }, 400, 'E_WEBSOCKET_HANDSHAKE'],
    ]
    for (const [name, headers, status, code] of faults) {
      test(`${name} is ${status}`, async () => {
        const app = kit.app()
        let asked = 0
        app.ws('/a', { upgrade: () => void asked++ })
        const reply = await refused(app, '/a', headers)
        assert.deepEqual([reply.status, codeOf(reply)], [status, code])
        if (status === 426) {
          assert.equal(reply.headers['sec-websocket-version'], '13')
          assert.equal(reply.headers['upgrade'], 'websocket')
        }
        assert.equal(asked, 0)
      })
    }

    test('a request without Host is 400', async () => {
      const app = kit.app()
      let asked = 0
      app.ws('/a', { upgrade: () => void asked++ })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake).toString('latin1').replace('host: localhost\r\n', ''))
        assert.equal((await wire.reply()).status, 400)
      })
      assert.equal(asked, 0)
    })

    test('a request with a body is 400', async () => {
      const app = kit.app()
      app.ws('/a', {})
      await kit.serve(app, async (live) => {
        for (const headers of [{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }] as const) {
          const wire = await live.connect()
          wire.send(request('GET', '/a', { ...handshake, ...headers }))
          wire.send('content-length' in headers ? 'hello' : '5\r\nhello\r\n0\r\n\r\n')
          const reply = await wire.reply()
          assert.deepEqual([reply.status, codeOf(reply)], [400, 'E_WEBSOCKET_HANDSHAKE'])
        }
      })
    })

    describe('Origin', () => {
      const asked: [string, Record<string, string>, { origins?: '*' | string[] }, boolean][] = [
        ['none passes', {}, {}, true],
        ['the own one passes', { origin: `${kit.scheme}://localhost` }, {}, true],
        [
          'the own one passes over https, as behind a proxy that ends TLS',
          { origin: 'https://localhost' },
          {},
          true,
        ],
        ['a foreign one is 403', { origin: 'http://evil.example' }, {}, false],
        ['one that begins like the own one is 403', { origin: 'http://localhost.evil.example' }, {}, false],
        ['another port is 403', { origin: 'http://localhost:81' }, {}, false],
        ['null is 403', { origin: 'null' }, {}, false],
        ['an empty one is 403', { origin: '' }, {}, false],
        [
          'a listed one passes',
          { origin: 'https://app.example' },
          { origins: ['https://app.example'] },
          true,
        ],
        [
          'one that is not listed is 403',
          { origin: 'https://b.example' },
          { origins: ['https://app.example'] },
          false,
        ],
        [
          'the own one passes beside a list',
          { origin: `${kit.scheme}://localhost` },
          { origins: ['https://app.example'] },
          true,
        ],
        ['null is not listed', { origin: 'null' }, { origins: ['https://app.example'] }, false],
        ['any passes with *', { origin: 'null' }, { origins: '*' }, true],
      ]
      for (const [name, headers, options, passes] of asked) {
        test(name, async () => {
          const app = kit.app()
          app.ws('/a', options)
          if (passes) await kit.serve(app, async (live) => void (await Peer.open(live, '/a', headers)))
          else {
            const reply = await refused(app, '/a', headers)
            assert.deepEqual([reply.status, codeOf(reply)], [403, 'E_ORIGIN_NOT_ALLOWED'])
          }
        })
      }

      test('the own host is that of a trusted proxy, and of nobody else', async () => {
        const forwarded = { origin: 'https://public.example', 'x-forwarded-host': 'public.example' }
        const trusting = kit.app({ trustProxy: 'loopback' })
        trusting.ws('/a', {})
        await kit.serve(trusting, async (live) => void (await Peer.open(live, '/a', forwarded)))
        const app = kit.app()
        app.ws('/a', {})
        assert.equal((await refused(app, '/a', forwarded)).status, 403)
        const secure = kit.app({ trustProxy: 'loopback' })
        secure.ws('/a', {})
        const overTLS = { ...forwarded, origin: 'http://public.example', 'x-forwarded-proto': 'https' }
        assert.equal((await refused(secure, '/a', overTLS)).status, 403)
      })
    })

    test('the first subprotocol of the client that is listed is chosen', async () => {
      const app = kit.app()
      app.ws('/a', { protocols: ['v2', 'v1'], open: (ws) => ws.send(`[${ws.protocol}]`) })
      await kit.serve(app, async (live) => {
        for (const [asked, chosen] of [
          ['v1, v2', 'v1'],
          ['v3 ,v2', 'v2'],
          ['v3', undefined],
          [undefined, undefined],
        ]) {
          const peer = await Peer.open(
            live,
            '/a',
            asked === undefined ? {} : { 'sec-websocket-protocol': asked },
          )
          assert.equal(peer.reply.headers['sec-websocket-protocol'], chosen)
          assert.equal(await peer.text(), `[${chosen ?? ''}]`)
        }
      })
    })

    test('the fields of the handshake are set by the server alone', async () => {
      const app = kit.app()
      const names = ['sec-websocket-accept', 'sec-websocket-extensions', 'sec-websocket-protocol']
      const all = [...names, 'Sec-WebSocket-Protocol', 'upgrade', 'connection']
      const codes: unknown[] = []
      const refuses = (set: (name: string) => unknown): void => {
        for (const name of all) {
          try {
            set(name)
            codes.push(name)
          } catch (error) {
            codes.push((error as VolantError).code)
          }
        }
      }
      app.use(
        fromConnect((_, res, next) => {
          for (const name of all) res.setHeader(name, 'wrong')
          next()
        }),
      )
      app.onSend((_, reply) => {
        refuses((name) => reply.headers.set(name, 'wrong'))
        refuses((name) => reply.headers.append(name, 'wrong'))
      })
      app.ws('/a', {
        protocols: ['v1'],
        upgrade(ctx) {
          refuses((name) => ctx.header(name, 'wrong'))
          refuses((name) => ctx.append(name, 'wrong'))
        },
        open: (ws) => ws.send(ws.protocol),
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/a', { 'sec-websocket-protocol': 'v1' })
        const sent = all.map((name) => name.toLowerCase()).slice(1)
        const found = peer.reply.raw.filter(([name]) => sent.includes(name.toLowerCase()))
        assert.deepEqual(found.map(([name, value]) => `${name}: ${value}`.toLowerCase()).toSorted(), [
          'connection: upgrade',
          'sec-websocket-protocol: v1',
          'upgrade: websocket',
        ])
        assert.equal(await peer.text(), 'v1')
      })
      assert.deepEqual(codes, Array(all.length * 4).fill('E_BAD_HEADER'))
    })

    test('setting one refuses the WebSocket, and the report says what to write', async () => {
      const app = kit.app()
      app.ws('/a', { upgrade: (ctx) => void ctx.header('Sec-WebSocket-Protocol', 'v1') })
      assert.equal((await refused(app, '/a')).status, 500)
      assert.match((kit.reports.at(-1) as Error).message, /Sec-WebSocket-Protocol.*app\.ws.*protocols/)
    })

    describe('refusals', () => {
      test('middleware in front answers', async () => {
        const app = kit.app()
        let asked = 0
        const guard = before((ctx) =>
          ctx.query['token'] === 'right' ? undefined : ctx.json({ no: true }, 401),
        )
        app.with(guard).ws('/a', { upgrade: () => void asked++ })
        const reply = await refused(app, '/a')
        assert.deepEqual([reply.status, reply.json(), asked], [401, { no: true }, 0])
      })

      test('schemas', async () => {
        const app = kit.app()
        app.ws('/a/:id', {
          params: z.object({ id: z.coerce.number() }),
          query: z.object({ as: z.string() }),
          upgrade: (ctx) => ctx.params.id + 1,
          open: (ws) => ws.json(ws.data),
        })
        const reply = await refused(app, '/a/x')
        const { code, errors } = reply.json() as { code: string; errors: { in: string }[] }
        assert.deepEqual(
          [reply.status, code, errors.map((each) => each.in)],
          [400, 'E_VALIDATION', ['params', 'query']],
        )
        const again = kit.app()
        again.ws('/a/:id', {
          params: z.object({ id: z.coerce.number() }),
          upgrade: (ctx) => ctx.params.id + 1,
          open: (ws) => ws.json(ws.data),
        })
        await kit.serve(again, async (live) =>
          assert.equal(await (await Peer.open(live, '/a/1')).text(), '2'),
        )
      })

      const ways: [string, { upgrade: (ctx: Context) => unknown }, number][] = [
        ['upgrade replies', { upgrade: (ctx) => ctx.text('no', 403) }, 403],
        [
          'upgrade replies later',
          { upgrade: async (ctx) => (await Promise.resolve(), ctx.json({}, 402)) },
          402,
        ],
        ['upgrade returns a Response', { upgrade: () => new Response('no', { status: 404 }) }, 404],
        ['upgrade redirects', { upgrade: (ctx) => ctx.redirect('/login') }, 302],
        [
          'upgrade throws an HTTPError',
          {
            upgrade: () => {
              throw new HTTPError(409)
            },
          },
          409,
        ],
        ['upgrade rejects', { upgrade: () => Promise.reject(new HTTPError(418)) }, 418],
        ['upgrade returns an error', { upgrade: () => new HTTPError(410) }, 410],
      ]
      for (const [name, options, status] of ways) {
        test(name, async () => {
          const app = kit.app()
          let opened = 0
          app.ws('/a', { ...options, open: () => void opened++ })
          const reply = await refused(app, '/a')
          assert.deepEqual([reply.status, opened], [status, 0])
          assert.equal(reply.headers['upgrade'], undefined)
        })
      }

      test('a declared error, and an unexpected one', async () => {
        const app = kit.app()
        app.ws('/a', {
          errors: { FULL: { status: 409 } },
          upgrade(ctx) {
            throw ctx.fail('FULL')
          },
        })
        const reply = await refused(app, '/a')
        assert.deepEqual([reply.status, codeOf(reply)], [409, 'FULL'])
        const broken = kit.app()
        const reports = kit.reports.length
        broken.ws('/a', {
          upgrade() {
            throw new Error('broken')
          },
        })
        assert.equal((await refused(broken, '/a')).status, 500)
        assert.equal((kit.reports[reports] as Error).message, 'broken')
      })

      test('a send hook that sets another status', async () => {
        const app = kit.app()
        let opened = 0
        app.onSend((ctx, reply) => {
          if (reply.status !== 101) return
          reply.status = 403
          reply.body = `no ${ctx.path}`
        })
        app.ws('/a', { open: () => void opened++ })
        const reply = await refused(app, '/a')
        assert.deepEqual([reply.status, reply.text, opened], [403, 'no /a', 0])
      })

      test('a send hook that fails, or sets a body alone, gives 500', async () => {
        for (const hook of ['throws', 'body']) {
          const app = kit.app()
          let opened = 0
          const reports = kit.reports.length
          app.onSend((_, reply) => {
            if (reply.status !== 101) return
            if (hook === 'throws') throw new Error('hook')
            reply.body = 'x'
          })
          app.ws('/a', { open: () => void opened++ })
          const reply = await refused(app, '/a')
          assert.deepEqual([reply.status, opened], [500, 0])
          assert.equal(kit.reports.length, reports + 1)
        }
      })

      test('a rate limit counts upgrades as requests', async () => {
        const app = kit.app()
        app.use(rateLimit({ max: 1, timeWindow: '1 day' }))
        app.ws('/a', {})
        await kit.serve(app, async (live) => {
          await Peer.open(live, '/a')
          const reply = await live.ask('/a', { headers: { ...handshake, connection: 'upgrade, close' } })
          assert.equal(reply.status, 429)
        })
      })

      test('the time of the handler', async () => {
        const app = kit.app()
        app.ws('/a', { handlerTimeout: 50, upgrade: () => new Promise(() => {}) })
        assert.equal((await refused(app, '/a')).status, 503)
      })
    })

    test('scopes, groups, plugins and mounted apps have WebSockets', async () => {
      const app = kit.app()
      const order: string[] = []
      const note = (name: string) => middleware((_, next) => (order.push(name), next()))
      app.use(note('app'))
      app.with(note('with')).ws('/with', note('own'), { open: (ws) => ws.send('with') })
      app.group('/group/:id', (group) => {
        group.use(note('group'))
        group.ws('/in', { upgrade: (ctx) => ctx.params.id, open: (ws) => ws.send(ws.data) })
      })
      app.register(async (scope) => {
        await Promise.resolve()
        scope.use(note('plugin'))
        scope.ws('/plugin', { open: (ws) => ws.send('plugin') })
      })
      const inner = createApp({ signals: false })
      inner.use(note('inner'))
      const mounted = inner.ws('/m/:x', {
        open: (ws) => {
          ws.subscribe('t')
          ws.send('mounted')
        },
      })
      app.mount('/outer', inner)
      await kit.serve(app, async (live) => {
        assert.equal(await (await Peer.open(live, '/with')).text(), 'with')
        assert.equal(await (await Peer.open(live, '/group/7/in')).text(), '7')
        assert.equal(await (await Peer.open(live, '/plugin')).text(), 'plugin')
        const peer = await Peer.open(live, '/outer/m/1')
        assert.equal(await peer.text(), 'mounted')
        mounted.publish('t', 'to the mounted')
        assert.equal(await peer.text(), 'to the mounted')
      })
      assert.deepEqual(order, ['app', 'with', 'own', 'app', 'group', 'app', 'plugin', 'app', 'inner'])
    })

    const forms: [string, string, Record<string, string>, { skip?: string | false }][] = [
      ['a target in absolute form', 'http://there.example/a/1?b=2', {}, kit.needs('target-forms')],
      ['a length of 00', '/a/1', { 'content-length': '00' }, {}],
    ]
    for (const [name, target, headers, options] of forms) {
      test(name, options, async () => {
        const app = kit.app()
        app.ws('/a/:id', { upgrade: (ctx) => ctx.params.id, open: (ws) => ws.send(ws.data) })
        await kit.serve(app, async (live) => {
          assert.equal(await (await Peer.open(live, target, headers)).text(), '1')
        })
      })
    }

    test('maxSocketsPerAddress counts those whose send hooks take time', async () => {
      const app = kit.app({ limits: { maxSocketsPerAddress: 2 } })
      const hooks = deferred<void>()
      let waiting = 0
      app.onSend(async () => {
        waiting++
        await hooks.promise
      })
      app.ws('/a', {})
      await kit.serve(app, async (live) => {
        const wires = await Promise.all([1, 2, 3, 4].map(() => live.connect()))
        for (const wire of wires) wire.send(request('GET', '/a', handshake))
        await eventually(() => waiting === 4, 'all four')
        hooks.resolve()
        const replies = await Promise.all(wires.map((wire) => wire.interim()))
        assert.deepEqual(replies.map(({ status }) => status).toSorted(), [101, 101, 429, 429])
      })
    })

    test('an upgrade that ends after the time of the handler opens and reports nothing', async () => {
      const app = kit.app()
      const late = deferred<void>()
      const ended = deferred<void>()
      let opened = 0
      app.use(async (_, next) => {
        await next()
        ended.resolve()
      })
      app.ws('/a', { handlerTimeout: 50, upgrade: () => late.promise, open: () => void opened++ })
      app.get('/b', () => 'b')
      await kit.serve(app, async (live) => {
        const reports = kit.reports.length
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake))
        assert.equal((await wire.reply()).status, 503)
        late.resolve()
        await ended.promise
        wire.send(request('GET', '/b'))
        assert.equal((await wire.reply()).text, 'b')
        assert.deepEqual(kit.reports.slice(reports), [])
        assert.equal(opened, 0)
      })
    })

    test('a client that closed its sending side before the 101 has no WebSocket', async () => {
      const app = kit.app()
      const entered = deferred<void>()
      const left = deferred<void>()
      const late = deferred<void>()
      let [opened, closed] = [0, 0]
      app.ws('/a', {
        upgrade(ctx) {
          ctx.signal.addEventListener('abort', () => left.resolve())
          entered.resolve()
          return late.promise
        },
        open: () => void opened++,
        close: () => void closed++,
      })
      app.get('/b', () => 'b')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake))
        await entered.promise
        wire.socket.end()
        await left.promise
        late.resolve()
        await live.ask('/b')
        await eventually(() => opened === closed && app.stats().sockets === 0, 'its end')
      })
    })

    test('bytes behind the request belong to the WebSocket', kit.needs('socket-early-frames'), async () => {
      const app = kit.app()
      const entered = deferred<void>()
      const go = deferred<void>()
      app.ws('/a', {
        async upgrade() {
          entered.resolve()
          await go.promise
        },
        message: (ws, message) => ws.send(message),
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.concat([request('GET', '/a', handshake), frame(Opcode.text, 'early')]))
        await entered.promise
        wire.send(frame(Opcode.text, 'later'))
        go.resolve()
        assert.equal((await wire.interim()).status, 101)
        await wire.until(() => (wire.received.length >= 14 ? true : undefined), 'two messages')
        assert.equal(wire.received.toString('latin1'), '\x81\x05early\x81\x05later')
      })
    })

    test(
      'requests before the upgrade are answered first, and those behind a refusal after it',
      kit.needs('pipelining'),
      async () => {
        const app = kit.app()
        const slow = deferred<string>()
        app.get('/slow', () => slow.promise)
        app.get('/x', () => 'x')
        app.ws('/no', { upgrade: (ctx) => ctx.text('no', 403) })
        app.ws('/yes', { message: (ws, message) => ws.send(message) })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(
            Buffer.concat([
              request('GET', '/slow'),
              request('GET', '/no', handshake),
              request('GET', '/x'),
              request('GET', '/no', handshake),
              request('GET', '/yes', handshake),
              frame(Opcode.text, 'hello'),
            ]),
          )
          slow.resolve('slow')
          assert.equal((await wire.reply()).text, 'slow')
          assert.equal((await wire.reply()).text, 'no')
          assert.equal((await wire.reply()).text, 'x')
          assert.equal((await wire.reply()).text, 'no')
          assert.equal((await wire.interim()).status, 101)
          await wire.until(() => (wire.received.length >= 7 ? true : undefined), 'the echo')
          assert.equal(wire.received.toString('latin1'), '\x81\x05hello')
        })
      },
    )

    test('a client that leaves while upgrade runs gets no WebSocket', async () => {
      const app = kit.app()
      const entered = deferred<void>()
      const aborted = deferred<void>()
      const done = deferred<void>()
      let opened = 0
      app.ws('/a', {
        async upgrade(ctx) {
          ctx.signal.addEventListener('abort', () => aborted.resolve())
          entered.resolve()
          await aborted.promise
        },
        open: () => void opened++,
        close: () => void opened++,
      })
      app.onResponse(() => done.resolve())
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake))
        await entered.promise
        wire.reset()
        await done.promise
        await eventually(() => app.stats().connections === 0, 'the end')
        assert.deepEqual([app.stats().sockets, app.stats().inFlight, opened], [0, 0, 0])
      })
    })

    test('other middleware of this package lets a WebSocket pass', async () => {
      const app = kit.app()
      app.use(requestId())
      app.use(securityHeaders())
      app.use(etag())
      app.use(compress())
      app.ws('/a', { open: (ws) => ws.send(ws.id), message: (ws, message) => ws.send(message) })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/a', { 'accept-encoding': 'gzip', 'if-none-match': '*' })
        assert.equal(await peer.text(), peer.reply.headers['x-request-id'])
        assert.equal(await peer.send('x').text(), 'x')
        for (const name of ['content-encoding', 'etag']) assert.equal(peer.reply.headers[name], undefined)
      })
    })

    test('inject and fetch say that they open none', async () => {
      const app = kit.app()
      app.ws('/a', { upgrade: (ctx) => (ctx.query['no'] === undefined ? 1 : ctx.text('no', 403)) })
      const injected = await app.inject({ url: '/a', headers: handshake })
      assert.deepEqual(
        [injected.status, (injected.json() as { code: string }).code],
        [501, 'E_SOCKETS_MISSING'],
      )
      const plain = await app.fetch(new Request('http://a/a'))
      assert.deepEqual([plain.status, plain.headers.get('upgrade')], [426, 'websocket'])
    })
  })
}
