import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App, before, cors, csp, etag, HTTPError, securityHeaders } from 'volant'
import { session } from 'volant/session'
import {
  allowedHosts,
  cacheControl,
  httpsRedirect,
  ipRestriction,
  timeout,
  trailingSlash,
} from 'volant/middleware'
import { type Asked, headerFaults } from '@volant/test-kit'
import { type Kit, request } from '../kit.ts'

const folder = new URL('../../../../../docs/migrate', import.meta.url)
const secure = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' }

/** What scanners of headers look at, on replies of every kind. */
export function headerRules(kit: Kit): void {
  describe('header rules', () => {
    const build = (): App => {
      const app = kit.app({ trustProxy: 'loopback' })
      app.use(securityHeaders())
      app.use('/api', cors({ origin: 'https://app.example', credentials: true }))
      app.use(etag())
      app.use(allowedHosts(['shop.example']), httpsRedirect({ allowedHosts: ['shop.example'] }))
      app.use(trailingSlash('remove'))
      app.use('/internal', ipRestriction({ allow: ['192.0.2.1'] }))
      app.use(
        '/account',
        before((ctx) => {
          if (ctx.headers['authorization'] === undefined)
            throw new HTTPError(401, undefined, { headers: { 'www-authenticate': 'Bearer' } })
        }),
      )
      app.use('/account', cacheControl({ noStore: true }))
      app.get('/', (ctx) => ctx.html('<p>home'))
      app.get('/json', () => ({ a: 1 }))
      app.get('/bytes', () => Buffer.from('x'))
      app.get('/stream', (ctx) => ctx.stream(['a', 'b'], { type: 'text/plain; charset=utf-8' }))
      app.get(
        '/page',
        csp({
          defaultSrc: ["'self'"],
          scriptSrc: ["'nonce'"],
          baseUri: ["'none'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
        }),
        (ctx) => ctx.html('<p>page'),
      )
      app.get('/cookie', (ctx) => ctx.header('cache-control', 'private').cookie('theme', 'dark').text('x'))
      const sessions = session<{ user: string }>({ keys: ['a key of thirty-two bytes or more.'] })
      app.with(sessions).post('/sign-in', async (ctx) => {
        await ctx.state.session.signIn({ user: 'ada' })
        return ctx.redirect('/account', 303)
      })
      app.get('/account', () => ({ name: 'Ada' }))
      app.get('/api/books', () => ['Emma'])
      app.get('/internal', () => 'x')
      app.get('/moved', (ctx) => ctx.redirect('/json', 301))
      app.get('/gone', (ctx) => ctx.text('gone', 410))
      app.get('/thrown', () => {
        throw new Error('secret of the code')
      })
      app.get('/slow', timeout(1), () => new Promise(() => {}))
      app.post('/checked', { maxBodySize: 10 }, (ctx) => ctx.body)
      app.static('/files', folder, { index: 'koa.md' })
      return app
    }

    test('nothing is found', async () => {
      const app = build()
      await kit.serve(app, async (live) => {
        const found: string[] = []
        const wire = await live.connect()
        const check = async (
          status: number,
          path: string,
          {
            method = 'GET',
            headers = {},
            body = '',
            ...asked
          }: Partial<Asked> & { headers?: Record<string, string>; body?: string } = {},
        ) => {
          const given = { ...secure, ...headers }
          const reply = await wire.send(request(method, path, given, body)).reply(method)
          assert.equal(reply.status, status, `${method} ${path}`)
          const encrypted = given['x-forwarded-proto'] === 'https'
          for (const fault of headerFaults(reply, { method, encrypted, ...asked }))
            found.push(`${method} ${path} ${status}: ${fault}`)
          return reply
        }
        for (const method of ['GET', 'HEAD']) {
          for (const path of [
            '/',
            '/json',
            '/bytes',
            '/stream',
            '/page',
            '/cookie',
            '/files/',
            '/files/express.md',
          ])
            await check(200, path, { method })
          await check(301, '/moved', { method })
          await check(308, '/json/', { method })
          await check(308, '/files', { method })
          for (const path of ['/none', '/files/none.md']) await check(404, path, { method })
          await check(410, '/gone', { method })
          await check(500, '/thrown', { method })
        }
        for (const path of ['/json', '/files/express.md']) {
          const { headers } = await check(200, path)
          await check(304, path, { headers: { 'if-none-match': headers['etag'] as string } })
          await check(412, path, { headers: { 'if-match': '"other"' } })
        }
        await check(206, '/files/express.md', { headers: { range: 'bytes=0-9' } })
        await check(416, '/files/express.md', { headers: { range: 'bytes=99999999-' } })
        await check(405, '/json', { method: 'DELETE' })
        await check(204, '/json', { method: 'OPTIONS' })
        await check(401, '/account')
        await check(200, '/account', { headers: { authorization: 'Bearer x' }, authenticated: true })
        await check(403, '/internal')
        await check(503, '/slow')
        await check(400, '/checked', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{',
        })
        await check(303, '/sign-in', { method: 'POST', headers: { origin: 'https://shop.example' } })
        await check(421, '/json', { headers: { 'x-forwarded-host': 'evil.example' } })
        await check(308, '/json', { headers: { 'x-forwarded-proto': 'http' } })
        await check(403, '/sign-in', { method: 'POST', headers: { 'x-forwarded-proto': 'http' } })
        const preflight = { 'access-control-request-method': 'PUT' }
        await check(204, '/api/books', {
          method: 'OPTIONS',
          headers: { ...preflight, origin: 'https://app.example' },
        })
        for (const origin of ['https://evil.example', 'null']) {
          await check(200, '/api/books', { headers: { origin }, strangeOrigin: origin })
          await check(204, '/api/books', {
            method: 'OPTIONS',
            headers: { ...preflight, origin },
            strangeOrigin: origin,
          })
        }
        assert.deepEqual(found, [])
      })
      kit.reports.length = 0
    })

    test(
      'what the server refuses by itself is a problem document that tells nothing',
      kit.needs('own-refusals'),
      async () => {
        const app = build()
        await kit.serve(app, async (live) => {
          const rows: [bytes: string, statuses: number[]][] = [
            ['GET /<script>alert(1)</script> HTTP/1.1\r\nhost: a\r\n\r\n', [400]],
            ['GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', [400]],
            ['GET / HTTP/1.1\r\nhost: a\r\nx y: <script>\r\n\r\n', [400]],
            [`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`, [414, 431]],
            [`GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, [431]],
            ['POST /checked HTTP/1.1\r\nhost: a\r\ncontent-length: 11\r\n\r\nhello world', [413]],
          ]
          for (const [bytes, statuses] of rows) {
            const wire = await live.connect()
            wire.send(Buffer.from(bytes))
            const { status, headers, raw, text } = await wire.reply()
            const row = bytes.slice(0, 40)
            assert.ok(statuses.includes(status), `${row}: ${status}`)
            assert.match(headers['content-type'] ?? '', /^application\/problem\+json/, row)
            assert.doesNotMatch(text, /<|script|volant|node/i, row)
            const told = raw.filter(([name]) => /^(?:server|via|x-powered-by)$/i.test(name))
            assert.deepEqual(told, [], row)
          }
        })
        kit.reports.length = 0
      },
    )
  })
}
