/** Requests are told apart by the page that they come from. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App, openapiOf } from 'volant'
import { csrf, type CsrfOptions, session } from 'volant/session'
import { Kit } from '../kit.ts'
import { host, status } from './kit.ts'

const kit = new Kit()

const key = 'k'.repeat(32)

describe('csrf by origin', () => {
  const rows: [method: string, site: string, origin: string, cookie: string, expected: number][] = [
    ['POST', 'same-origin', '', '', 200],
    ['POST', 'none', '', '', 200],
    ['POST', 'cross-site', '', '', 403],
    ['POST', 'same-site', '', '', 403],
    ['POST', '', '', '', 200],
    ['POST', '', `https://${host}`, '', 200],
    ['POST', '', 'https://attacker.example', '', 403],
    ['POST', '', 'null', '', 403],
    ['GET', 'cross-site', '', '', 200],
    ['HEAD', 'cross-site', '', '', 200],
    ['PUT', 'cross-site', '', '', 403],
    ['PATCH', 'cross-site', '', '', 403],
    ['DELETE', 'cross-site', '', '', 403],
    // Go lets these pass: a program sends them, or a browser older than both fields.
    ['POST', '', '', 'a=b', 403],
    ['GET', '', '', 'a=b', 200],
    ['POST', 'same-origin', '', 'a=b', 200],
    ['POST', '', `https://${host}`, 'a=b', 200],
    // The site decides where both are there: a page cannot set it.
    ['POST', 'same-origin', 'https://attacker.example', '', 200],
    ['POST', 'cross-site', `https://${host}`, '', 403],
    ['POST', 'same-origin, cross-site', '', '', 403],
    ['POST', 'SAME-ORIGIN', '', '', 403],
    ['POST', 'whatever', '', '', 403],
    ['POST', '', `http://${host}`, '', 200],
    ['POST', '', `https://${host}:8443`, '', 403],
    ['POST', '', `https://${host}:443`, '', 403],
    ['POST', '', `https://${host}.attacker.example`, '', 403],
    ['POST', '', `https://attacker.example?${host}`, '', 403],
    ['POST', '', `https://${host}@attacker.example`, '', 403],
    ['POST', '', `https://attacker.example\\${host}`, '', 403],
    ['POST', '', `https://${host.toUpperCase()}`, '', 200],
    ['POST', '', host, '', 403],
  ]
  for (const [method, site, origin, cookie, expected] of rows) {
    test(`${method}, site ${site || '-'}, origin ${origin || '-'}, cookie ${cookie || '-'}: ${expected}`, async () => {
      const headers = { 'sec-fetch-site': site, origin, cookie }
      assert.equal(await status(guarded(), method, headers), expected)
    })
  }

  test('a preflight is not refused', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://attacker.example' }
    assert.notEqual(await status(guarded(), 'OPTIONS', headers), 403)
  })

  for (const [origin, site, expected] of [
    ['https://trusted.example', '', 200],
    ['https://trusted.example', 'cross-site', 200],
    ['https://attacker.example', '', 403],
    ['https://attacker.example', 'cross-site', 403],
    ['https://trusted.example:8443', 'cross-site', 403],
    ['http://trusted.example', 'cross-site', 403],
  ] as const) {
    test(`with a trusted origin: ${origin}, site ${site || '-'}: ${expected}`, async () => {
      const app = guarded({ origins: ['https://trusted.example'] })
      assert.equal(await status(app, 'POST', { origin, 'sec-fetch-site': site }), expected)
    })
  }

  test('a host with a port, and the usual port of the scheme', async () => {
    const app = guarded()
    for (const [own, origin, expected] of [
      ['localhost:3000', 'http://localhost:3000', 200],
      ['localhost:3000', 'http://localhost:3001', 403],
      ['localhost:3000', 'http://localhost', 403],
      ['shop.example:443', 'https://shop.example', 200],
      ['shop.example:80', 'http://shop.example', 200],
      ['[::1]:3000', 'http://[::1]:3000', 200],
    ] as const) {
      assert.equal(await status(app, 'POST', { host: own, origin }), expected, `${own} ${origin}`)
    }
  })

  test('behind a proxy that names the host, and over https nothing that came over http', async () => {
    const app = kit.app({ trustProxy: 'loopback' })
    app.use(csrf())
    app.post('/', () => 'x')
    const proxied = { host: 'app:3000', 'x-forwarded-host': host, 'x-forwarded-proto': 'https' }
    assert.equal(await status(app, 'POST', { ...proxied, origin: `https://${host}` }), 200)
    assert.equal(await status(app, 'POST', { ...proxied, origin: `http://${host}` }), 403)
    assert.equal(await status(app, 'POST', { ...proxied, origin: 'https://app:3000' }), 403)
  })

  test('named cookies alone count, and that of a session in front', async () => {
    const app = kit.app()
    const scope = app.with(session({ keys: [key] }))
    scope.post('/', csrf({ cookies: ['legacy'] }), () => 'x')
    assert.equal(await status(app, 'POST', { cookie: 'theme=dark' }), 200)
    assert.equal(await status(app, 'POST', { cookie: 'legacy=1' }), 403)
    assert.equal(await status(app, 'POST', { cookie: '__Host-session=x' }), 403)
    const own = kit.app()
    own.with(session({ keys: [key] })).post('/', csrf(), () => 'x')
    assert.equal(await status(own, 'POST', { cookie: 'theme=dark' }), 200)
    assert.equal(await status(own, 'POST', { cookie: 'theme=dark; __Host-session=x' }), 403)
  })

  test('the type of the body does not matter', async () => {
    for (const type of ['application/json', 'text/plain', 'multipart/form-data', '']) {
      const headers = { 'sec-fetch-site': 'cross-site', 'content-type': type }
      assert.equal(await status(guarded(), 'POST', headers), 403, type)
    }
  })

  test('the refusal is a declared error whose detail says what to do', async () => {
    const app = guarded()
    const detail = async (headers: Record<string, string>): Promise<string> => {
      const reply = await app.inject({ method: 'POST', url: '/', headers: { host, ...headers } })
      const { code, detail: text } = reply.json() as { code: string; detail: string }
      assert.equal(code, 'E_CSRF')
      return text
    }
    assert.match(await detail({ 'sec-fetch-site': 'cross-site' }), /csrf\(\{ origins \}\)/)
    assert.match(await detail({ origin: 'https://b.example' }), /trustProxy/)
    assert.match(await detail({ cookie: 'a=b' }), /sends the Origin of this server, or no cookie/)
    await app.ready()
    const { responses } = openapiOf(app, { info: { title: 'x', version: '1' } }).paths?.['/']?.post ?? {}
    assert.ok(responses?.['403'])
  })

  for (const [origin, isGood] of [
    ['https://example.com', true],
    ['https://example.com:8080', true],
    ['http://example.com', true],
    ['example.com', false],
    ['https://', false],
    ['https://example.com/', false],
    ['https://example.com/path', false],
    ['https://example.com?query=value', false],
    ['https://example.com#fragment', false],
    ['https://ex ample.com', false],
    ['https://EXAMPLE.com', false],
    ['https://example.com:443', false],
    ['*', false],
    ['', false],
    ['null', false],
  ] as const) {
    test(`the origin ${JSON.stringify(origin)} is ${isGood ? 'taken' : 'refused'}`, () => {
      if (isGood) csrf({ origins: [origin] })
      else assert.throws(() => csrf({ origins: [origin] }), /csrf: origins takes origins such as/)
    })
  }

  test('options that make no sense are refused', () => {
    for (const [options, message] of [
      [{ origins: 'https://a.example' }, /csrf: origins takes an array/],
      [{ cookies: ['a b'] }, /csrf: cookies takes names of cookies/],
      [{ token: 'yes' }, /csrf: token takes true or false/],
      [{ trustedOrigins: [] }, /did you mean "origins"/],
      [{ sessionPlugin: '@fastify/session' }, /tokens belong to the session/],
    ] as const) {
      assert.throws(() => csrf(options as never), message)
    }
  })
})

function guarded(options: CsrfOptions<false> = {}): App {
  const app = kit.app()
  app.use(csrf(options))
  app.get('/', () => 'x')
  app.post('/', () => 'x')
  app.put('/', () => 'x')
  app.patch('/', () => 'x')
  app.delete('/', () => 'x')
  return app
}
