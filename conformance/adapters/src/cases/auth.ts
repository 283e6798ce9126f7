import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { describe, test } from 'node:test'
import { cors, HTTPError } from 'volant'
import { anyOf, apiKey, authenticate, basic, bearer, requireScope } from 'volant/auth'
import { decompress } from 'volant/compress'
import { type Kit, request, stderrLines } from '../kit.ts'

const good = { authorization: 'Bearer good' }
const head = (fields: string, length: number): string =>
  `POST /up HTTP/1.1\r\nHost: h\r\n${fields}Content-Length: ${length}\r\n\r\n`

/** Authentication over sockets; what it makes of credentials is in `packages/volant/test/auth/credentials.test.ts`. */
export function authCases(kit: Kit): void {
  describe('authentication', () => {
    const build = () => {
      const app = kit.app()
      const handled: number[] = []
      app.with(bearer({ token: 'good', realm: 'api' })).post('/up', { maxBodySize: 5_000_000 }, (ctx) => {
        handled.push(ctx.bodyBytes.length)
        return { length: ctx.bodyBytes.length }
      })
      return { app, handled }
    }

    test('a stranger is refused before five megabytes were sent', async () => {
      const { app, handled } = build()
      await kit.serve(app, async (live) => {
        for (const fields of ['', 'Authorization: Bearer bad\r\n', 'Authorization: Bearer bad bad\r\n']) {
          const wire = await live.connect()
          wire.send(head(fields, 5_000_000))
          const reply = await wire.reply()
          assert.equal(reply.status, fields.includes('bad bad') ? 400 : 401)
          assert.match(reply.headers['www-authenticate'] ?? '', /^Bearer realm="api"/)
        }
        assert.deepEqual(handled, [])
      })
    })

    test('and before 100 Continue, which who is known gets', kit.needs('late-100'), async () => {
      const { app, handled } = build()
      await kit.serve(app, async (live) => {
        const stranger = await live.connect()
        stranger.send(head('Expect: 100-continue\r\n', 4_000_000))
        assert.equal((await stranger.interim()).status, 401)
        const known = await live.connect()
        known.send(head('Expect: 100-continue\r\nAuthorization: bearer good\r\n', 400_000))
        assert.equal((await known.interim()).status, 100)
        known.send('x'.repeat(400_000))
        assert.deepEqual((await known.reply()).json(), { length: 400_000 })
        assert.deepEqual(handled, [400_000])
      })
    })

    test('the body of who is known is whole, however it comes', async () => {
      const { app, handled } = build()
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const length of [0, 1, 70_000]) {
          wire.send(request('POST', '/up', good, 'x'.repeat(length)))
          assert.deepEqual((await wire.reply()).json(), { length })
        }
        wire.send(
          `POST /up HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer good\r\nTransfer-Encoding: chunked\r\n\r\n`,
        )
        wire.send('3\r\nabc\r\n')
        wire.send('2\r\nde\r\n0\r\n\r\n')
        assert.deepEqual((await wire.reply()).json(), { length: 5 })
        wire.send(head('Authorization: Bearer good\r\n', 6_000_000))
        assert.equal((await wire.reply()).status, 413)
        assert.deepEqual(handled, [0, 1, 70_000, 5])
      })
    })

    test('what stands behind it sees the body, and what stands in front of it does not', async () => {
      const app = kit.app()
      const auth = bearer({ token: 'good' })
      const seen: unknown[] = []
      app.use((ctx, next) => {
        if (ctx.headers['x-peek'] === 'yes') seen.push(ctx.body)
        return next()
      })
      app
        .with(auth)
        .with(decompress())
        .with((ctx, next) => {
          seen.push(ctx.body)
          return next()
        })
        .post('/scope', { body: { type: 'object', required: ['a'] } as const }, (ctx) => ctx.body)
      app.post('/own', decompress(), auth, (ctx) => ctx.body)
      await kit.serve(app, async (live) => {
        for (const path of ['/scope', '/own']) {
          assert.equal((await live.post(path, 'application/json', '{"a":1}', good)).text, '{"a":1}', path)
          const packed = { ...good, 'content-encoding': 'gzip' }
          const reply = await live.post(path, 'application/json', gzipSync('{"a":2}'), packed)
          assert.equal(reply.text, '{"a":2}', path)
        }
        assert.deepEqual(seen, [{ a: 1 }, { a: 2 }])
        assert.equal((await live.post('/scope', 'application/json', '{"b":1}', good)).status, 400)
        assert.equal((await live.post('/scope', 'application/json', '{"b":1}')).status, 401)
        const peek = await live.post('/own', 'application/json', '{}', { ...good, 'x-peek': 'yes' })
        assert.equal(peek.status, 500)
        assert.equal((kit.reports.pop() as { code: string }).code, 'E_BODY_UNREAD')
      })
    })

    test('two fields of credentials are 400, whichever comes first', async () => {
      const app = kit.app()
      // What is read later is read from a copy of the head.
      app.use(async (ctx, next) => {
        if (ctx.path === '/later') await new Promise((resolve) => setImmediate(resolve))
        await next()
      })
      app.with(bearer({ token: 'good' })).get('/bearer', () => 'x')
      app.with(bearer({ token: 'good' })).get('/later', () => 'x')
      app.with(basic({ realm: 'Staff', users: { ada: 'pw' } })).get('/basic', () => 'x')
      app.with(apiKey({ in: 'header', name: 'X-Key', keys: ['k'] })).get('/key', () => 'x')
      app.with(apiKey({ in: 'cookie', name: 'key', keys: ['k'] })).get('/cookie', () => 'x')
      const ada = `Basic ${Buffer.from('ada:pw').toString('base64')}`
      const ask = (path: string, ...fields: string[]): string =>
        `GET ${path} HTTP/1.1\r\nHost: h\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`
      await kit.serve(app, async (live) => {
        for (const [path, ...fields] of [
          ['/bearer', 'Authorization: Bearer good'],
          ['/later', 'Authorization: Bearer good'],
          ['/basic', `AUTHORIZATION: ${ada}`],
          ['/key', 'x-key: k'],
          ['/cookie', 'Cookie: key=k'],
        ] as [string, string][]) {
          const wire = await live.connect()
          wire.send(ask(path, ...fields))
          assert.equal((await wire.reply()).status, 200, path)
        }
        for (const [path, ...fields] of [
          ['/bearer', 'Authorization: Bearer good', 'Authorization: Bearer good'],
          ['/bearer', 'Authorization: Bearer good', 'authorization: Bearer bad'],
          ['/bearer', 'Authorization: Digest a', 'Authorization: Bearer good'],
          ['/later', 'Authorization: Bearer good', 'authorization: Bearer good'],
          ['/bearer', 'Authorization: Bearer good, Bearer good'],
          ['/basic', `Authorization: ${ada}`, 'Authorization: Bearer good'],
          ['/key', 'X-Key: k', 'x-key: k'],
          ['/cookie', 'Cookie: key=k; key=k'],
          ['/cookie', 'Cookie: key=k', 'Cookie: key=evil'],
        ] as [string, ...string[]][]) {
          const wire = await live.connect()
          wire.send(ask(path, ...fields))
          const reply = await wire.reply()
          assert.equal(reply.status, 400, fields.join())
          assert.equal((reply.json() as { code: string }).code, 'E_CREDENTIALS_MALFORMED')
        }
      })
    })

    test('alternatives, with all their challenges, and a user from a database', async () => {
      const app = kit.app()
      const session = authenticate({
        schemeName: 'cookie',
        security: { type: 'apiKey', in: 'cookie', name: 'session' },
        credentials: (ctx) => ctx.cookies['session'],
        verify: async (id) => {
          await new Promise((resolve) => setImmediate(resolve))
          if (id === 'down') throw new HTTPError(503, 'no database')
          return id === '7' ? { name: 'ada', scopes: ['write'] } : null
        },
      })
      const members = app.with(
        anyOf(session, bearer({ verify: (token) => token === 'good' && { name: 'ci' } })),
      )
      members.get('/me', (ctx) => [ctx.state.user.name, ctx.state.auth?.scheme])
      members.with(requireScope('write')).post('/write', (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        const ask = async (headers: Record<string, string>) => {
          const reply = await live.ask('/me', { headers })
          return [reply.status, reply.status === 200 ? reply.json() : reply.headers['www-authenticate']]
        }
        const plain = 'ApiKey in="cookie", name="session", Bearer'
        assert.deepEqual(await ask({ cookie: 'session=7' }), [200, ['ada', 'cookie']])
        assert.deepEqual(await ask(good), [200, ['ci', 'bearer']])
        assert.deepEqual(await ask({ ...good, cookie: 'session=8' }), [200, ['ci', 'bearer']])
        assert.deepEqual(await ask({ ...good, cookie: 'session=down' }), [200, ['ci', 'bearer']])
        assert.deepEqual(await ask({}), [401, plain])
        assert.deepEqual(await ask({ cookie: 'session=8' }), [401, plain])
        assert.deepEqual(await ask({ authorization: 'Bearer bad', cookie: 'session=8' }), [
          401,
          `${plain} error="invalid_token"`,
        ])
        assert.deepEqual(await ask({ cookie: 'session=down' }), [503, undefined])
        const written = await live.post('/write', 'text/plain', 'w', { cookie: 'session=7' })
        assert.equal(written.text, 'w')
        const refused = await live.post('/write', 'text/plain', 'w', good)
        assert.deepEqual(
          [refused.status, refused.headers['www-authenticate']],
          [403, 'Bearer error="insufficient_scope", scope="write"'],
        )
      })
    })

    test('a page of another origin can read why it was refused', async () => {
      const app = kit.app()
      app.use(bearer({ token: 'good' }))
      app.use(cors({ origin: 'https://app.example' }))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const origin = 'https://app.example'
        const refused = await live.ask('/x', { headers: { origin } })
        assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [401, origin])
        assert.equal(refused.headers['access-control-expose-headers'], 'WWW-Authenticate')
        // A preflight has no credentials.
        const preflight = { origin, 'access-control-request-method': 'GET' }
        assert.equal((await live.ask('/x', { method: 'OPTIONS', headers: preflight })).status, 204)
      })
    })

    test('no secret is in errors and logs', async () => {
      const app = kit.app({ report: undefined, errorDetails: true })
      app
        .with(
          bearer({
            verify: () => {
              throw new Error('the database is down')
            },
          }),
        )
        .get('/x', () => 'x')
      const lines = await stderrLines(() =>
        kit.serve(app, async (live) => {
          const reply = await live.ask('/x', { headers: { authorization: 'Bearer top-secret' } })
          assert.equal(reply.status, 500)
          assert.ok(!reply.text.includes('top-secret'))
        }),
      )
      assert.match(lines.join('\n'), /the database is down/)
      assert.ok(!lines.join('\n').includes('top-secret'))
    })
  })
}
