import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App, openapiOf } from 'volant'
import { csrf, type CsrfOptions, memorySessions, session } from 'volant/session'
import { Kit } from './kit.ts'

const kit = new Kit()
const key = 'k'.repeat(32)
const host = 'shop.example'

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

async function status(app: App, method: string, headers: Record<string, string>): Promise<number> {
  const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  return (await app.inject({ method: method as 'GET', url: '/', headers: { host, ...given } })).status
}

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

describe('csrf with tokens', () => {
  const build = (lazy = false): App => {
    const app = kit.app()
    const sessions = session<{ user: string }>(lazy ? { store: memorySessions(), lazy } : { keys: [key] })
    const scope = app.with(sessions).with(csrf({ token: true }))
    scope.get('/form', async (ctx) => {
      await ctx.state.session.load()
      return ctx.json([ctx.state.csrf.token(), ctx.state.csrf.token()])
    })
    scope.post('/in', (ctx) => {
      ctx.state.session.signIn({ user: 'ada' })
      return ctx.state.csrf.token()
    })
    scope.post('/body', async (ctx) => ctx.json(Object.keys(await ctx.form())))
    scope.post('/x', () => 'x')
    scope.post('/stream', { bodyMode: 'stream' }, () => 'x')
    return app
  }
  const visit = async (app: App): Promise<{ cookie: string; tokens: string[] }> => {
    const reply = await app.inject('/form')
    return {
      cookie: String(reply.headers['set-cookie']).split(';')[0] as string,
      tokens: reply.json() as string[],
    }
  }
  const post = (
    app: App,
    url: string,
    cookie: string,
    token: string | null,
    body?: URLSearchParams | FormData | string,
  ) =>
    app.inject({
      method: 'POST',
      url,
      headers: {
        host,
        'sec-fetch-site': 'same-origin',
        ...(cookie === '' ? {} : { cookie }),
        ...(token === null ? {} : { 'x-csrf-token': token }),
      },
      ...(body === undefined ? {} : { body }),
    })

  test('each token is another one, and all of a session hold', async () => {
    const app = build()
    const { cookie, tokens } = await visit(app)
    assert.notEqual(tokens[0], tokens[1])
    for (const token of tokens) assert.equal((await post(app, '/x', cookie, token)).status, 200)
  })

  test('a field of a form counts, and the handler has the form', async () => {
    const app = build()
    const { cookie, tokens } = await visit(app)
    const [token = ''] = tokens
    const form = new FormData()
    form.set('name', 'x')
    form.set('_csrf', token)
    for (const body of [new URLSearchParams({ name: 'x', _csrf: token }), form]) {
      const reply = await post(app, '/body', cookie, null, body)
      assert.deepEqual([reply.status, reply.json()], [200, ['name', '_csrf']])
    }
    assert.equal((await post(app, '/x', cookie, null, JSON.stringify({ _csrf: token }))).status, 403)
  })

  test('no token, a changed one, and one of another session are refused', async () => {
    const app = build()
    const [ada, eve] = [await visit(app), await visit(app)]
    const [own = '', other = ''] = [ada.tokens[0], eve.tokens[0]]
    for (const token of [
      null,
      '',
      'x',
      other,
      `${own}A`,
      own.slice(1),
      own.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
    ]) {
      const reply = await post(app, '/x', ada.cookie, token)
      assert.equal(reply.status, 403, String(token))
      assert.equal((reply.json() as { code: string }).code, 'E_CSRF')
    }
    assert.equal((await post(app, '/x', '', own)).status, 403)
    const twice = new URLSearchParams([
      ['_csrf', own],
      ['_csrf', own],
    ])
    assert.equal((await post(app, '/body', ada.cookie, null, twice)).status, 403)
    assert.match((await post(app, '/x', ada.cookie, other)).text(), /load the page again/)
  })

  test('no character of a token can be changed', async () => {
    const app = build()
    const { cookie, tokens } = await visit(app)
    const [token = ''] = tokens
    for (let at = 0; at < token.length - 1; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      assert.equal((await post(app, '/x', cookie, changed)).status, 403, String(at))
    }
  })

  test('tokens of before a sign-in are refused after it', async () => {
    const app = build()
    const { cookie, tokens } = await visit(app)
    const [token = ''] = tokens
    const reply = await post(app, '/in', cookie, token)
    const after = String(reply.headers['set-cookie']).split(';')[0] as string
    assert.equal((await post(app, '/x', after, token)).status, 403)
    assert.equal((await post(app, '/x', after, reply.text())).status, 200)
  })

  test('a right token does not save a request of another origin', async () => {
    const app = build()
    const { cookie, tokens } = await visit(app)
    const reply = await app.inject({
      method: 'POST',
      url: '/x',
      headers: { cookie, 'x-csrf-token': tokens[0] as string, 'sec-fetch-site': 'cross-site' },
    })
    assert.equal(reply.status, 403)
  })

  test('a body that the handler reads as it arrives needs the header', async () => {
    const app = build()
    const { cookie, tokens } = await visit(app)
    const [token = ''] = tokens
    assert.equal(
      (await post(app, '/stream', cookie, null, new URLSearchParams({ _csrf: token }))).status,
      403,
    )
    assert.equal((await post(app, '/stream', cookie, token, new URLSearchParams({ a: 'b' }))).status, 200)
  })

  test('a lazy session is loaded for its token', async () => {
    const app = build(true)
    const { cookie, tokens } = await visit(app)
    assert.equal((await post(app, '/x', cookie, tokens[0] as string)).status, 200)
    assert.equal((await post(app, '/x', cookie, null)).status, 403)
  })

  test('without a session in front it is a mistake of the app', async () => {
    const app = kit.app()
    app.with(csrf({ token: true })).post('/', () => 'x')
    assert.equal(await status(app, 'POST', {}), 500)
    assert.match(String(kit.reports.at(-1)), /register it behind app\.with\(sessions\)/)
  })
})
