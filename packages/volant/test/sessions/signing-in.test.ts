/** A session and its cookie from the first value to the sign-out. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { Browser, key, kinds, shop } from './kit.ts'

for (const [kind, options] of kinds) {
  describe(`session, ${kind}`, () => {
    test('what is set is there in the next request', async () => {
      const browser = new Browser(shop(options()))
      assert.equal(await browser.text('/new'), 'true')
      assert.equal(browser.cookies.size, 0)
      await browser.text('/cart/1', 'POST')
      assert.equal(await browser.text('/new'), 'false')
      await browser.text('/cart/2', 'POST')
      assert.equal(await browser.text('/cart'), '[1,2]')
      await browser.text('/empty', 'POST')
      assert.equal(await browser.text('/cart'), '[]')
    })

    test('the cookie is __Host-session, and its reply is not cached', async () => {
      const browser = new Browser(shop(options()))
      const reply = await browser.ask('/cart/1', 'POST')
      assert.match(
        String(reply.headers['set-cookie']),
        /^__Host-session=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      )
      assert.equal(reply.headers['cache-control'], 'no-store')
      assert.equal((await browser.ask('/cart')).headers['set-cookie'], undefined)
      assert.equal((await browser.ask('/unused')).headers['cache-control'], undefined)
    })

    test('a sign-in begins another session, which holds what it was given alone', async () => {
      const browser = new Browser(shop(options()))
      await browser.text('/cart/1', 'POST')
      const [before, id] = [browser.header, await browser.text('/id')]
      await browser.text('/sign-in/ada', 'POST')
      assert.notEqual(browser.header, before)
      assert.notEqual(await browser.text('/id'), id)
      assert.equal(await browser.text('/user'), 'ada')
      assert.equal(await browser.text('/cart'), '[]')
    })

    test('a sign-out ends the session and its cookie', async () => {
      const app = shop(options())
      const browser = new Browser(app)
      await browser.text('/sign-in/ada', 'POST')
      const reply = await browser.ask('/sign-out', 'POST')
      assert.match(String(reply.headers['set-cookie']), /^__Host-session=; Max-Age=0;/)
      assert.equal(browser.cookies.size, 0)
      assert.equal(await browser.text('/user'), 'nobody')
      assert.equal((await new Browser(app).ask('/sign-out', 'POST')).headers['set-cookie'], undefined)
    })

    test('two cookies that both open are none; one that does not open is passed over', async () => {
      const app = shop(options())
      const [ada, eve] = [new Browser(app), new Browser(app)]
      await ada.text('/sign-in/ada', 'POST')
      await eve.text('/sign-in/eve', 'POST')
      const ask = async (cookie: string) => (await app.inject({ url: '/user', headers: { cookie } })).text()
      assert.equal(await ask(`${eve.header}; ${ada.header}`), 'nobody')
      assert.equal(await ask(`${ada.header}; ${ada.header}`), 'ada')
      assert.equal(await ask(`__Host-session=x; ${ada.header}`), 'ada')
      assert.equal(await ask(`x__Host-session=1; a="; ${ada.header}`), 'ada')
      const junk = Array.from({ length: 200 }, (_, at) => `__Host-session=${at}`).join('; ')
      assert.equal(await ask(`${junk}; ${ada.header}`), 'nobody')
    })

    test('no change of one character opens a session', async () => {
      const app = shop(options())
      const browser = new Browser(app)
      await browser.text('/sign-in/ada', 'POST')
      const [name, value] = browser.header.split('=') as [string, string]
      for (let at = 0; at < value.length; at++) {
        for (const other of ['A', 'B', '.', '=', ' ']) {
          if (value[at] === other) continue
          const cookie = `${name}=${value.slice(0, at)}${other}${value.slice(at + 1)}`
          if (cookie.trim() === browser.header) continue
          assert.equal((await app.inject({ url: '/user', headers: { cookie } })).text(), 'nobody', cookie)
        }
      }
    })

    test('nothing of a session is shown by inspect', async () => {
      let shown = ''
      const app = shop(options(), (scope) =>
        scope.get('/inspect', (ctx) => {
          ctx.state.session.get('user')
          shown = inspect(ctx.state.session, { depth: 9, showHidden: true })
          return 'x'
        }),
      )
      const browser = new Browser(app)
      await browser.text('/sign-in/grace', 'POST')
      await browser.text('/inspect')
      const [, value] = browser.header.split('=') as [string, string]
      assert.ok(!shown.includes('grace') && !shown.includes(value) && !shown.includes(key), shown)
    })
  })
}
