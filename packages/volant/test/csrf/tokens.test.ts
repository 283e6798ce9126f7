/** Requests need the token of their session. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App } from 'volant'
import { csrf, memorySessions, session } from 'volant/session'
import { Kit } from '../kit.ts'
import { host, status } from './kit.ts'

const kit = new Kit()

const key = 'k'.repeat(32)

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
