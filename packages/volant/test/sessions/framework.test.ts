/** Sessions beside hooks, API documents and types. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError, middleware, openapiOf, type SendHook } from 'volant'
import { anyOf, bearer } from 'volant/auth'
import { memorySessions, type Session, session } from 'volant/session'
import { stderrLines } from '../kit.ts'
import { type Data, key, kinds, kit, shop } from './kit.ts'

describe('sessions and the rest of the framework', () => {
  for (const [kind, options] of kinds) {
    test(`${kind}: an error in place of a reply that set the cookie is kept by nobody`, async () => {
      const app = kit.app()
      const onSend = () => Promise.reject(new HTTPError(404))
      const scope = app.with(middleware({ onSend }, (_, next) => next())).with(session(options()))
      scope.get('/', (ctx) => {
        ctx.state.session.set('a', 1)
        return 'x'
      })
      const { status, headers } = await app.inject({ url: '/' })
      assert.deepEqual([status, headers['cache-control']], [404, 'no-store'])
      assert.equal(headers['set-cookie']?.length, 1)
    })

    test(`${kind}: a hook that runs after the session was written cannot change it`, async () => {
      const app = kit.app()
      const codes: unknown[] = []
      const onSend: SendHook = (ctx) => {
        try {
          ;(ctx.state as { session: Session }).session.set('late', 1)
        } catch (error) {
          codes.push((error as { code?: unknown }).code)
        }
      }
      const scope = app.with(middleware({ onSend }, (_, next) => next())).with(session(options()))
      scope.get('/', () => 'x')
      const reply = await app.inject({ url: '/' })
      assert.deepEqual([reply.status, codes], [200, ['E_SESSION_LATE']])
    })
  }

  test('the document has the cookie on routes that need it, and the errors of a store', async () => {
    const app = kit.app()
    const sessions = session<Data>({ store: memorySessions() })
    const scope = app.with(sessions)
    scope.get('/open', () => 'x')
    scope.get('/own', sessions.signedIn('user'), () => 'x')
    scope.get(
      '/either',
      anyOf(bearer({ tokens: { ci: 'a-token-of-a-machine' } }), sessions.signedIn('user')),
      () => 'x',
    )
    await app.ready()
    const { paths, components } = openapiOf(app, { info: { title: 'x', version: '1' } })
    assert.deepEqual(components?.securitySchemes?.['session'], {
      type: 'apiKey',
      in: 'cookie',
      name: '__Host-session',
    })
    assert.equal(paths?.['/open']?.get?.security, undefined)
    assert.deepEqual(paths?.['/own']?.get?.security, [{ session: [] }])
    assert.deepEqual(paths?.['/either']?.get?.security, [{ bearer: [] }, { session: [] }])
    assert.deepEqual(
      ['401', '409', '503'].map((status) => paths?.['/own']?.get?.responses?.[status] !== undefined),
      [true, true, true],
    )
    assert.equal(paths?.['/open']?.get?.responses?.['401'], undefined)
  })

  test('keys and values are typed', () => {
    const app = kit.app()
    const sessions = session<Data>({ keys: [key] })
    app.with(sessions).get('/', (ctx) => {
      const { session: own } = ctx.state
      const user: string | undefined = own.get('user')
      const cart: readonly number[] | undefined = own.get('cart')
      own.set('user', 'ada')
      // @ts-expect-error -- a cart has numbers
      own.set('cart', ['a'])
      // @ts-expect-error -- there is no such key
      own.get('name')
      // @ts-expect-error -- what was stored does not change
      own.get('cart')?.push(1)
      // @ts-expect-error -- delete(key) forgets a value
      own.set('user', undefined)
      own.signIn({ user: 'ada' })
      // @ts-expect-error -- a user is a text
      own.signIn({ user: 1 })
      return { user, cart }
    })
    // @ts-expect-error -- there is no such key
    sessions.signedIn('name')
    app
      .with(sessions)
      .with(sessions.signedIn('user'))
      .get('/me', (ctx) => ctx.state.user.toUpperCase())
  })

  test('a Secure cookie over plain HTTP is told of once, and not at localhost', async () => {
    const app = shop({ keys: [key] })
    const post = (host: string) => app.inject({ method: 'POST', url: '/cart/1', headers: { host } })
    const lines = await stderrLines(async () => {
      for (const host of ['localhost:3000', 'app.localhost', '127.0.0.1:80', '[::1]:3000']) await post(host)
    })
    assert.deepEqual(lines, [])
    const told = await stderrLines(async () => {
      await post('192.0.2.1')
      await post('shop.example')
    })
    assert.equal(told.length, 1)
    assert.match(told[0] as string, /http:\/\/192\.0\.2\.1: browsers drop a Secure cookie .*secure: false/)
  })
})
