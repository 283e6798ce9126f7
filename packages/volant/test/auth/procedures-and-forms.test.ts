/** An authentication in front of procedures, and beside the token of a form. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearer, requireRole } from 'volant/auth'
import { procedure, rest, router } from 'volant/procedures'
import { csrf, session } from 'volant/session'
import { trpc } from 'volant/trpc'
import { Kit } from '../kit.ts'

const kit = new Kit()

test('procedures run behind it, over REST and over tRPC', async () => {
  const app = kit.app()
  const me = procedure()
    .use(bearer({ verify: (token) => (token === 'good' ? { name: 'ada', roles: ['admin'] } : null) }))
    .use(requireRole('admin'))
    .query(({ ctx }) => ctx.state.user.name)
  const procedures = router({ users: router({ listUsers: me }) })
  app.register(rest(procedures)).register(trpc(procedures))
  for (const url of ['/users', '/trpc/users.listUsers']) {
    const good = await app.inject({ url, headers: { authorization: 'Bearer good' } })
    assert.match(good.text(), /ada/, url)
    for (const headers of [{}, { authorization: 'Bearer bad' }] as Record<string, string>[]) {
      assert.equal((await app.inject({ url, headers })).status, 401, url)
    }
    const twice = { authorization: ['Bearer good', 'Bearer good'] }
    assert.equal((await app.inject({ url, headers: twice as never })).status, 400, url)
  }
})

test('the token of a form is checked in front of an authentication and behind it', async () => {
  const app = kit.app()
  const sessions = session<{ user: string }>({ keys: ['k'.repeat(32)] })
  const auth = bearer({ token: 'good' })
  const guard = csrf({ token: true })
  app
    .with(sessions)
    .with(guard)
    .with(auth)
    .post('/front', (ctx) => ctx.bodyText.length > 0)
  app
    .with(sessions)
    .with(auth)
    .with(guard)
    .post('/behind', (ctx) => ctx.bodyText.length > 0)
  app
    .with(sessions)
    .with(guard)
    .get('/', (ctx) => ctx.state.csrf.token())
  const page = await app.inject('/')
  const cookie = String(page.headers['set-cookie']).split(';')[0] as string
  for (const url of ['/front', '/behind']) {
    for (const [token, status] of [
      [page.text(), 200],
      ['x', 403],
    ] as const) {
      const reply = await app.inject({
        method: 'POST',
        url,
        headers: {
          cookie,
          authorization: 'Bearer good',
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: `_csrf=${encodeURIComponent(token)}`,
      })
      assert.equal(reply.status, status, `${url} ${reply.text()}`)
    }
  }
})
