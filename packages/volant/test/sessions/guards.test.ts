/** Routes that want somebody who signed in. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { anyOf, bearer, requireRole } from 'volant/auth'
import { session } from 'volant/session'
import { Browser, type Data, key, kinds, kit } from './kit.ts'

for (const [kind, options] of kinds) {
  describe(`session, ${kind}`, () => {
    test('the roles of the user who signed in are those that guards look at', async () => {
      const app = kit.app()
      const sessions = session<{ user: { name: string; role: string } }>(options())
      const scope = app.with(sessions)
      scope.post('/in/:role', (ctx) => {
        ctx.state.session.signIn({ user: { name: 'ada', role: ctx.params.role } })
        return 'x'
      })
      scope
        .with(sessions.signedIn('user'))
        .with(requireRole('clerk'))
        .get('/stock', () => 'full')
      const browser = new Browser(app)
      await browser.text('/in/customer', 'POST')
      assert.equal((await browser.ask('/stock')).status, 403)
      await browser.text('/in/clerk', 'POST')
      assert.equal(await browser.text('/stock'), 'full')
    })

    test('signedIn answers 401, gives the user, and is one of anyOf', async () => {
      const app = kit.app()
      const sessions = session<Data>(options())
      const scope = app.with(sessions)
      scope.post('/in', (ctx) => {
        ctx.state.session.signIn({ user: 'ada' })
        return 'x'
      })
      scope.get('/me', sessions.signedIn('user'), (ctx) => ctx.state.user.toUpperCase())
      const either = anyOf(bearer({ tokens: { ci: 'a-token-of-a-machine' } }), sessions.signedIn('user'))
      scope.get('/either', either, (ctx) => `${ctx.state.user} by ${ctx.state.auth.scheme}`)
      const browser = new Browser(app)
      const refused = await browser.ask('/me')
      assert.equal(refused.status, 401)
      assert.equal((refused.json() as { code: string }).code, 'E_UNAUTHORIZED')
      assert.equal(refused.headers['www-authenticate'], 'Cookie cookie-name="__Host-session"')
      assert.equal((await browser.ask('/either')).status, 401)
      await browser.text('/in', 'POST')
      assert.equal(await browser.text('/me'), 'ADA')
      assert.equal(await browser.text('/either'), 'ada by session')
      const machine = await app.inject({
        url: '/either',
        headers: { authorization: 'Bearer a-token-of-a-machine' },
      })
      assert.equal(machine.text(), 'ci by bearer')
    })
  })
}

describe('sessions and the rest of the framework', () => {
  test('signedIn without a session in front is a mistake of the app', async () => {
    const app = kit.app()
    app.with(session<Data>({ keys: [key] }).signedIn('user')).get('/', () => 'x')
    assert.equal((await app.inject('/')).status, 500)
    assert.match(String(kit.reports.at(-1)), /register it behind app\.with\(sessions\)/)
  })
})
