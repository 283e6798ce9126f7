import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { memorySessions, type SessionOptions, session } from 'volant/session'
import { Browser, key, kit, shop } from './kit.ts'

describe('session options', () => {
  const wrong: [unknown, RegExp][] = [
    [undefined, /session takes an object of options/],
    [{}, /session takes keys, which seal the cookie, or a store/],
    [{ keys: [] }, /session: keys/],
    [{ keys: ['short'] }, /session: keys\[0\]/],
    [{ keys: [undefined] }, /session: keys\[0\] takes a text, not undefined/],
    [{ secret: 'x' }, /did you mean "keys"/],
    [{ keys: [key], saveUninitialized: false }, /a session without values is not kept/],
    [{ keys: [key], maxAge: 1 }, /idleTimeout or absoluteTimeout/],
    [{ keys: [key], cookie: { maxAge: 1 } }, /idleTimeout and absoluteTimeout of session\(\)/],
    [{ keys: [key], cookie: { httpOnly: false } }, /always HttpOnly/],
    [{ keys: [key], idleTimeout: 'soon' }, /session: idleTimeout takes milliseconds/],
    [{ keys: [key], idleTimeout: '1 day' }, /idleTimeout is longer than absoluteTimeout/],
    [{ keys: [key], absoluteTimeout: '500 days' }, /session: absoluteTimeout takes/],
    [{ keys: [key], lazy: true }, /lazy is for a store/],
    [{ keys: [key], onStoreError: 'deny' }, /onStoreError is for a store/],
    [{ store: { get() {} } }, /session: store has no set, touch, destroy: give it memorySessions\(\)/],
    [{ keys: [] }, /session: keys takes an array of 1 to 16 texts, the newest first, not an empty array/],
    [{ store: memorySessions(), onStoreError: 'allow' }, /session: onStoreError takes deny, anonymous/],
    [{ store: memorySessions(), storeTimeout: 0 }, /session: storeTimeout/],
    [{ keys: [key], cookie: { secure: false, name: '__Host-x' } }, /browsers drop it unless it is secure/],
    [{ keys: [key], cookie: { secure: false, partitioned: true } }, /browsers drop it unless it is secure/],
    [{ keys: [key], cookie: { name: '__Host-x', domain: 'a.example' } }, /takes no domain/],
    [{ keys: [key], cookie: { name: 'a b' } }, /session: cookie.name/],
    [{ keys: [key], cookie: { sameSite: 'Lax' } }, /session: cookie.sameSite takes lax, strict, none/],
    [{ keys: [key], cookie: { path: 'x' } }, /its? .*path|takes a path/],
  ]
  for (const [options, message] of wrong) {
    test(`${inspect(options, { depth: 0 })} is refused`, () => {
      assert.throws(
        () => session(options as SessionOptions),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'E_BAD_OPTION')
          assert.match(error.message, message)
          assert.ok(!error.message.includes(key))
          return true
        },
      )
    })
  }

  test('without Secure the name has no prefix, and a persistent cookie has an age', async () => {
    const cookie = { secure: false, persistent: true, sameSite: 'strict' } as const
    const browser = new Browser(shop({ keys: [key], cookie }))
    const reply = await browser.ask('/cart/1', 'POST')
    assert.match(
      String(reply.headers['set-cookie']),
      /^session=[\w.-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    )
  })

  test('two different sessions of one request are a conflict; the same one twice is not', async () => {
    const app = kit.app()
    const sessions = session({ keys: [key] })
    app.use(sessions)
    app.get('/same', sessions, () => 'x')
    app.get('/other', session({ keys: [key] }), () => 'x')
    assert.equal((await app.inject('/same')).status, 200)
    assert.equal((await app.inject('/other')).status, 500)
    assert.match(String(kit.reports.at(-1)), /E_MIDDLEWARE_CONFLICT|two middlewares of session/)
  })
})
