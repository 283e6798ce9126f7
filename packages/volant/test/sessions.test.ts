import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, test } from 'node:test'
import { type App, HTTPError, middleware, openapiOf, type SendHook } from 'volant'
import {
  memorySessions,
  type Session,
  type SessionMiddleware,
  type SessionOptions,
  session,
  type SessionStore,
  sqliteSessions,
} from 'volant/session'
import { anyOf, bearer, requireRole } from 'volant/auth'
import { Kit, stderrLines } from './kit.ts'

const kit = new Kit()
const key = 'k'.repeat(32)
const older = 'o'.repeat(32)

interface Data {
  user: string
  cart: number[]
  note: { text?: string | undefined }
}

/** A browser: it keeps the cookies that it is given. */
class Browser {
  readonly cookies = new Map<string, string>()
  readonly #app: App

  constructor(app: App) {
    this.#app = app
  }

  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  async ask(url: string, method = 'GET', more: Record<string, string> = {}) {
    const cookie = this.header
    const reply = await this.#app.inject({
      method: method as 'GET',
      url,
      headers: { ...(cookie === '' ? {} : { cookie }), ...more },
    })
    for (const line of [reply.headers['set-cookie'] ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) as unknown as [string, string, string]
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return reply
  }

  async text(url: string, method = 'GET'): Promise<string> {
    const reply = await this.ask(url, method)
    assert.equal(reply.status, 200, reply.text())
    return reply.text()
  }
}

function shop(options: SessionOptions, more: (app: ReturnType<typeof behind>) => void = () => {}): App {
  const app = kit.app()
  const scope = behind(app, session<Data>(options))
  scope.post('/sign-in/:user', (ctx) => {
    ctx.state.session.signIn({ user: ctx.params.user })
    return 'in'
  })
  scope.post('/sign-out', (ctx) => {
    ctx.state.session.signOut()
    return 'out'
  })
  scope.get('/user', (ctx) => ctx.state.session.get('user') ?? 'nobody')
  scope.get('/unused', () => 'unused')
  scope.get('/id', (ctx) => ctx.state.session.id)
  scope.get('/new', (ctx) => String(ctx.state.session.isNew))
  scope.post('/cart/:id', (ctx) => {
    ctx.state.session.set('cart', [...(ctx.state.session.get('cart') ?? []), Number(ctx.params.id)])
    return 'added'
  })
  scope.get('/cart', (ctx) => ctx.json(ctx.state.session.get('cart') ?? []))
  scope.post('/empty', (ctx) => {
    ctx.state.session.delete('cart')
    return 'empty'
  })
  more(scope)
  return app
}

function behind(app: App, sessions: SessionMiddleware<Data>) {
  return app.with(sessions)
}

const kinds: readonly [string, () => SessionOptions][] = [
  ['sealed', () => ({ keys: [key] })],
  ['memory', () => ({ store: memorySessions() })],
]

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

    test('a session that is not used ends after its idle time, and one that is used does not', async (t) => {
      const browser = new Browser(shop({ ...options(), idleTimeout: '10 minutes' }))
      let [wall, now] = [Date.now(), performance.now()]
      t.mock.method(Date, 'now', () => wall)
      t.mock.method(performance, 'now', () => now)
      const pass = (ms: number): void => {
        wall += ms
        now += ms
      }
      await browser.text('/sign-in/ada', 'POST')
      for (let each = 0; each < 5; each++) {
        pass(9 * 60_000)
        assert.equal(await browser.text('/user'), 'ada')
      }
      pass(10 * 60_000)
      assert.equal(await browser.text('/user'), 'nobody')
    })

    test('no session outlives its absolute time', async (t) => {
      const browser = new Browser(
        shop({ ...options(), idleTimeout: '10 minutes', absoluteTimeout: '30 minutes' }),
      )
      let [wall, now] = [Date.now(), performance.now()]
      t.mock.method(Date, 'now', () => wall)
      t.mock.method(performance, 'now', () => now)
      await browser.text('/sign-in/ada', 'POST')
      for (const user of ['ada', 'ada', 'ada', 'nobody']) {
        wall += 8 * 60_000
        now += 8 * 60_000
        assert.equal(await browser.text('/user'), user)
      }
    })

    test('a session is extended at most once a minute', async (t) => {
      const store = memorySessions()
      const touch = t.mock.method(store, 'touch')
      const browser = new Browser(shop(kind === 'sealed' ? options() : { store }))
      let [wall, now] = [Date.now(), performance.now()]
      t.mock.method(Date, 'now', () => wall)
      t.mock.method(performance, 'now', () => now)
      await browser.text('/sign-in/ada', 'POST')
      let times = 0
      for (let each = 0; each < 12; each++) {
        wall += 10_000
        now += 10_000
        const { headers } = await browser.ask('/user')
        if (headers['set-cookie'] !== undefined) times++
      }
      assert.equal(kind === 'sealed' ? times : touch.mock.callCount(), kind === 'sealed' ? 2 : 1)
    })

    test('a reply that caches may share does not extend the session', async (t) => {
      const app = shop(options(), (scope) =>
        scope.get('/shared', (ctx) => {
          ctx.header('cache-control', 'public, max-age=60')
          return String(ctx.state.session.get('user'))
        }),
      )
      const browser = new Browser(app)
      await browser.text('/sign-in/ada', 'POST')
      const wall = Date.now() + 120_000
      t.mock.method(Date, 'now', () => wall)
      const reply = await browser.ask('/shared')
      assert.equal(reply.text(), 'ada')
      assert.equal(reply.headers['set-cookie'], undefined)
      assert.equal(reply.headers['cache-control'], 'public, max-age=60')
    })

    test('what is not JSON is refused by name', async () => {
      const cycle: unknown[] = []
      cycle.push(cycle)
      const values: [unknown, RegExp][] = [
        [undefined, /cart is undefined: delete\(key\) forgets a value/],
        [() => 1, /cart is a function/],
        [1n, /cart is a bigint/],
        [Symbol('x'), /cart is a symbol/],
        [NaN, /cart is NaN/],
        [[1, undefined], /cart\[1\] is undefined/],
        [{ at: new Date(0) }, /cart\.at is an object of Date/],
        [new Map(), /cart is an object of Map/],
        [cycle, /nested more than 100 deep/],
        [JSON.parse('{"__proto__":{"admin":true}}'), /cart\.__proto__ is a member/],
      ]
      let at = 0
      const messages: unknown[] = []
      const app = shop(options(), (scope) =>
        scope.post('/bad', (ctx) => {
          try {
            ctx.state.session.set('cart', values[at]?.[0] as never)
          } catch (error) {
            messages.push(error)
          }
          return 'x'
        }),
      )
      for (; at < values.length; at++) {
        await new Browser(app).text('/bad', 'POST')
        assert.match(String(messages[at]), (values[at] as [unknown, RegExp])[1])
        assert.equal((messages[at] as { code: string }).code, 'E_NOT_SERIALISABLE')
      }
    })

    test('keys such as __proto__ and constructor are keys like others', async () => {
      const app = kit.app()
      const scope = app.with(session<Record<string, string>>(options()))
      scope.post('/:key', (ctx) => {
        ctx.state.session.set(ctx.params.key, 'x')
        return 'set'
      })
      scope.get('/:key', (ctx) => ctx.state.session.get(ctx.params.key) ?? 'none')
      const browser = new Browser(app)
      await browser.text('/other', 'POST')
      for (const name of ['__proto__', 'constructor', 'toString']) {
        assert.equal(await browser.text(`/${name}`), 'none')
        await browser.text(`/${name}`, 'POST')
        assert.equal(await browser.text(`/${name}`), 'x')
      }
      assert.equal(({} as { x?: unknown }).x, undefined)
    })

    test('values are frozen, so that no change is lost', async () => {
      const app = shop(options(), (scope) => {
        scope.post('/note', (ctx) => {
          ctx.state.session.set('note', { text: 'a' })
          return 'x'
        })
        scope.post('/change', (ctx) => {
          const note = ctx.state.session.get('note') as { text: string }
          assert.throws(() => {
            note.text = 'b'
          }, TypeError)
          return note.text
        })
      })
      const browser = new Browser(app)
      await browser.text('/note', 'POST')
      assert.equal(await browser.text('/change', 'POST'), 'a')
    })

    test('a change after the reply has left throws', async () => {
      const late: unknown[] = []
      const app = shop(options(), (scope) => {
        scope.get('/replied', (ctx) => {
          ctx.text('x')
          try {
            ctx.state.session.set('user', 'late')
          } catch (error) {
            late.push(error)
          }
        })
        scope.get('/stream', (ctx) =>
          ctx.stream(
            (async function* () {
              yield 'x'
              try {
                ctx.state.session.signOut()
              } catch (error) {
                late.push(error)
              }
            })(),
          ),
        )
      })
      const browser = new Browser(app)
      await browser.text('/replied')
      await browser.text('/stream')
      assert.equal(late.length, 2)
      for (const error of late) assert.match(inspect(error), /E_SESSION_LATE/)
      assert.equal(browser.cookies.size, 0)
    })

    test('what a handler changed before it failed is kept', async () => {
      const app = shop(options(), (scope) =>
        scope.post('/fail', (ctx) => {
          ctx.state.session.set('note', { text: 'tried' })
          throw new HTTPError(422)
        }),
      )
      const browser = new Browser(app)
      assert.equal((await browser.ask('/fail', 'POST')).status, 422)
      assert.equal(await browser.text('/new'), 'false')
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

describe('session, sealed', () => {
  test('an older key opens, and the session is sealed by the newest', async () => {
    const old = new Browser(shop({ keys: [older] }))
    await old.text('/sign-in/ada', 'POST')
    const browser = new Browser(shop({ keys: [key, older] }))
    for (const [name, value] of old.cookies) browser.cookies.set(name, value)
    assert.equal(await browser.text('/user'), 'ada')
    assert.notEqual(browser.header, old.header)
    const after = new Browser(shop({ keys: [key] }))
    for (const [name, value] of browser.cookies) after.cookies.set(name, value)
    assert.equal(await after.text('/user'), 'ada')
    for (const [name, value] of old.cookies) after.cookies.set(name, value)
    assert.equal(await after.text('/user'), 'nobody')
  })

  test('a session that is too large for a cookie is an error that says by what', async () => {
    const app = shop({ keys: [key] }, (scope) => {
      scope.post('/large', (ctx) => {
        ctx.state.session.set('note', { text: 'secret'.repeat(700) })
        return 'x'
      })
      scope.post('/huge', (ctx) => {
        ctx.state.session.set('note', { text: 'x'.repeat(2_000_000) })
        return 'x'
      })
    })
    const lines = await stderrLines(async () => {
      for (const url of ['/large', '/huge']) {
        const reply = await new Browser(app).ask(url, 'POST')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['set-cookie'], undefined)
      }
    })
    const text = [...lines, ...kit.reports.map(String)].join('\n')
    assert.match(text, /more than 4096: keep less in it \(note has 4211\)/)
    assert.ok(!text.includes('secretsecret'))
  })
})

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

/** A store whose answers a case decides. */
function brittle(): SessionStore & { fault: (() => Promise<never>) | null; calls: string[] } {
  const real = memorySessions()
  const store = {
    fault: null as (() => Promise<never>) | null,
    calls: [] as string[],
    get: (id: string) => (store.calls.push('get'), store.fault?.() ?? real.get(id)),
    set: (id: string, record: Parameters<SessionStore['set']>[1]) => (
      store.calls.push('set'),
      store.fault?.() ?? real.set(id, record)
    ),
    touch: (id: string, ttl: number) => (store.calls.push('touch'), store.fault?.() ?? real.touch(id, ttl)),
    destroy: (id: string) => (store.calls.push('destroy'), store.fault?.() ?? real.destroy(id)),
  }
  return store
}

describe('session, stored', () => {
  test('a hundred requests at once lose none of their keys', async () => {
    const app = kit.app()
    const scope = app.with(session<Record<string, number>>({ store: memorySessions() }))
    scope.post('/:key', (ctx) => {
      ctx.state.session.set(ctx.params.key, 1)
      return 'set'
    })
    scope.get('/count', (ctx) =>
      String(
        Array.from({ length: 100 }, (_, at) => ctx.state.session.get(`k${at}`) ?? 0).filter(Boolean).length,
      ),
    )
    const browser = new Browser(app)
    await browser.text('/first', 'POST')
    await Promise.all(Array.from({ length: 100 }, (_, at) => browser.text(`/k${at}`, 'POST')))
    assert.equal(await browser.text('/count'), '100')
  })

  test('a session that another request ended does not come back', async () => {
    let go = (): void => {}
    const waits = new Promise<void>((resolve) => (go = resolve))
    const app = shop({ store: memorySessions() }, (scope) =>
      scope.post('/slow', async (ctx) => {
        await waits
        ctx.state.session.set('cart', [1])
        return 'x'
      }),
    )
    const browser = new Browser(app)
    await browser.text('/sign-in/ada', 'POST')
    const slow = browser.ask('/slow', 'POST')
    await browser.text('/sign-out', 'POST')
    go()
    const reply = await slow
    assert.equal(reply.status, 409)
    assert.equal((reply.json() as { code: string }).code, 'E_SESSION_ENDED')
    assert.equal(reply.headers['set-cookie'], undefined)
  })

  test('an id that the store does not know is never taken over', async () => {
    const app = shop({ store: memorySessions() })
    const browser = new Browser(app)
    const planted = 'A'.repeat(32)
    browser.cookies.set('__Host-session', planted)
    await browser.text('/sign-in/ada', 'POST')
    assert.ok(!browser.header.includes(planted))
    const eve = new Browser(app)
    eve.cookies.set('__Host-session', planted)
    assert.equal(await eve.text('/user'), 'nobody')
  })

  test('the store has a digest in place of what the cookie has', async () => {
    const store = memorySessions()
    const ids: string[] = []
    const spy: SessionStore = {
      ...store,
      set: (id, record) => (ids.push(id, record.value), store.set(id, record)),
    }
    const browser = new Browser(shop({ store: spy }))
    await browser.text('/sign-in/ada', 'POST')
    const [, secret] = browser.header.split('=') as [string, string]
    assert.equal(ids[0], await browser.text('/id'))
    assert.ok(!ids.join().includes(secret))
  })

  test('the id of before a sign-in shows what was before for ten seconds, and then ends both', async (t) => {
    const app = shop({ store: memorySessions() })
    let wall = Date.now()
    t.mock.method(Date, 'now', () => wall)
    const [ada, eve] = [new Browser(app), new Browser(app)]
    await eve.text('/cart/1', 'POST')
    // Eve has Ada use her session.
    for (const [name, value] of eve.cookies) ada.cookies.set(name, value)
    await ada.text('/sign-in/ada', 'POST')
    wall += 9_000
    assert.equal(await eve.text('/user'), 'nobody')
    assert.equal(await eve.text('/cart'), '[1]')
    const refused = await eve.ask('/cart/2', 'POST')
    assert.equal(refused.status, 409)
    assert.equal(await ada.text('/user'), 'ada')
    wall += 2_000
    assert.equal(await eve.text('/cart'), '[]')
    assert.equal(await ada.text('/user'), 'nobody')
  })

  test('a replay ends what took the place of what took the place of a session', async (t) => {
    const app = shop({ store: memorySessions() })
    let wall = Date.now()
    t.mock.method(Date, 'now', () => wall)
    const old = new Browser(app)
    await old.text('/cart/1', 'POST')
    const browser = new Browser(app)
    for (const [name, value] of old.cookies) browser.cookies.set(name, value)
    for (const user of ['a', 'b', 'c']) await browser.text(`/sign-in/${user}`, 'POST')
    assert.equal(await browser.text('/user'), 'c')
    wall += 11_000
    assert.equal(await old.text('/user'), 'nobody')
    assert.equal(await browser.text('/user'), 'nobody')
  })

  test('two sign-ins at once over one session both hold, and a replay ends both', async (t) => {
    const app = shop({ store: memorySessions() })
    let wall = Date.now()
    t.mock.method(Date, 'now', () => wall)
    const old = new Browser(app)
    await old.text('/cart/1', 'POST')
    const browsers = [new Browser(app), new Browser(app)] as const
    for (const each of browsers) for (const [name, value] of old.cookies) each.cookies.set(name, value)
    await Promise.all([browsers[0].text('/sign-in/a', 'POST'), browsers[1].text('/sign-in/b', 'POST')])
    assert.deepEqual([await browsers[0].text('/user'), await browsers[1].text('/user')], ['a', 'b'])
    wall += 11_000
    assert.equal(await old.text('/user'), 'nobody')
    assert.deepEqual([await browsers[0].text('/user'), await browsers[1].text('/user')], ['nobody', 'nobody'])
  })

  test('a store that fails is 503 with Retry-After, for reads and for writes', async () => {
    const store = brittle()
    const app = shop({ store })
    const browser = new Browser(app)
    await browser.text('/sign-in/ada', 'POST')
    store.fault = () => Promise.reject(new Error('down'))
    const read = await browser.ask('/user')
    assert.deepEqual([read.status, read.headers['retry-after']], [503, '1'])
    assert.equal((read.json() as { code: string }).code, 'E_SESSION_STORE')
    const fresh = new Browser(app)
    assert.equal(await fresh.text('/user'), 'nobody')
    const write = await fresh.ask('/cart/1', 'POST')
    assert.deepEqual([write.status, write.headers['set-cookie']], [503, undefined])
    store.fault = null
    assert.equal(await browser.text('/user'), 'ada')
  })

  test('a store that throws, or gives something else, fails', async () => {
    const store = brittle()
    const browser = new Browser(shop({ store }))
    await browser.text('/sign-in/ada', 'POST')
    for (const fault of [
      () => {
        throw new Error('at once')
      },
      async () => ({ value: 1 }) as never,
      async () => 'x' as never,
    ]) {
      store.fault = fault as () => Promise<never>
      assert.equal((await browser.ask('/user')).status, 503)
    }
    store.fault = async () => undefined as never
    assert.equal((await browser.ask('/cart/1', 'POST')).status, 503)
  })

  test('a record that no session wrote is none, whatever it says came after it', async () => {
    const store = brittle()
    const app = shop({ store })
    const cookie = `__Host-session=${'a'.repeat(32)}`
    const began = Date.now()
    for (const content of [
      { began, values: {}, until: 'x' },
      { began, values: {}, until: 1, successors: 5 },
      { began, values: {}, until: 1, successors: 'abc' },
      { began, values: {}, until: 1, successors: [null, {}, 5] },
    ]) {
      const record = { value: JSON.stringify(content), version: 1, ttl: 60_000 }
      store.calls.length = 0
      store.fault = async () => record as never
      const reply = await app.inject({ url: '/user', headers: { cookie } })
      assert.deepEqual([reply.status, reply.text(), store.calls], [200, 'nobody', ['get']])
    }
  })

  test('sign-ins over one session are bounded, and so is its record', async () => {
    const lengths: number[] = []
    const real = memorySessions()
    const app = shop({
      store: { ...real, set: (id, record) => (lengths.push(record.value.length), real.set(id, record)) },
    })
    const old = new Browser(app)
    await old.text('/cart/1', 'POST')
    const statuses: number[] = []
    for (let each = 0; each < 102; each++) {
      const browser = new Browser(app)
      for (const [name, value] of old.cookies) browser.cookies.set(name, value)
      statuses.push((await browser.ask('/sign-in/ada', 'POST')).status)
    }
    assert.deepEqual([statuses.indexOf(409), statuses.lastIndexOf(200)], [100, 99])
    assert.ok(Math.max(...lengths) < 5_000)
  })

  test('SQLite that is busy while it removes what has expired has written the session', async () => {
    let writes = 0
    const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' })
    const store = sqliteSessions({
      exec: () => {},
      prepare: (sql) => ({
        get: () => undefined,
        run: () => {
          if (sql.includes('DELETE') && sql.includes('LIMIT')) throw busy
          return { changes: sql.includes('INSERT') && writes++ === 0 ? 1 : 0 }
        },
      }),
    })
    assert.equal(await store.set('i'.repeat(43), { value: '{}', version: 1, ttl: 1_000 }), true)
    assert.equal(writes, 1)
  })

  test('a hook that fails before the session is written: a store has what changed', async () => {
    const app = shop({ store: memorySessions() }, (scope) => {
      const fails = { onSend: () => Promise.reject(new HTTPError(418)) }
      const failing = scope.with(middleware(fails, (_, next) => next()))
      failing.post('/leave', (ctx) => {
        ctx.state.session.signOut()
        return 'out'
      })
    })
    const browser = new Browser(app)
    await browser.text('/sign-in/ada', 'POST')
    assert.equal((await browser.ask('/leave', 'POST')).status, 418)
    assert.equal(await browser.text('/user'), 'nobody')
  })

  test('a store that hangs is waited for as long as storeTimeout says', async (t) => {
    // After a second it would be asked again.
    t.mock.method(performance, 'now', () => 0)
    const store = brittle()
    const browser = new Browser(shop({ store, storeTimeout: 5 }))
    await browser.text('/sign-in/ada', 'POST')
    store.fault = () => new Promise<never>(() => {})
    for (let each = 0; each < 5; each++) assert.equal((await browser.ask('/user')).status, 503)
    const asked = store.calls.length
    assert.equal((await browser.ask('/user')).status, 503)
    assert.equal(store.calls.length, asked)
  })

  test("with onStoreError: 'anonymous' requests have no session, and none takes the place of theirs", async () => {
    const store = brittle()
    const browser = new Browser(shop({ store, onStoreError: 'anonymous' }))
    await browser.text('/sign-in/ada', 'POST')
    const { header } = browser
    store.fault = () => Promise.reject(new Error('down'))
    assert.equal(await browser.text('/user'), 'nobody')
    let once = true
    store.fault = () => {
      if (once) {
        once = false
        return Promise.reject(new Error('down'))
      }
      return null as never
    }
    assert.equal((await browser.ask('/cart/1', 'POST')).status, 503)
    assert.equal(browser.header, header)
    store.fault = null
    assert.equal(await browser.text('/user'), 'ada')
  })

  test('a lazy session is read when the handler loads it', async () => {
    const store = brittle()
    const app = shop({ store, lazy: true }, (scope) =>
      scope.get('/loaded', async (ctx) => {
        await ctx.state.session.load()
        return ctx.state.session.get('user') ?? 'nobody'
      }),
    )
    const browser = new Browser(app)
    await app.inject('/loaded')
    const made = await session<Data>({ store })
    const eager = kit.app()
    eager.with(made).post('/in', (ctx) => {
      ctx.state.session.signIn({ user: 'ada' })
      return 'x'
    })
    const other = new Browser(eager)
    await other.text('/in', 'POST')
    for (const [name, value] of other.cookies) browser.cookies.set(name, value)
    store.calls.length = 0
    await browser.text('/unused')
    assert.deepEqual(store.calls, [])
    assert.equal(await browser.text('/loaded'), 'ada')
    assert.equal((await browser.ask('/user')).status, 500)
    assert.match(String(kit.reports.at(-1)), /await ctx.state.session.load\(\)/)
  })

  test('a session of more than 64 KiB is refused', async () => {
    const app = shop({ store: memorySessions() }, (scope) =>
      scope.post('/large', (ctx) => {
        ctx.state.session.set('note', { text: 'x'.repeat(65_536) })
        return 'x'
      }),
    )
    assert.equal((await new Browser(app).ask('/large', 'POST')).status, 500)
    assert.match(String(kit.reports.at(-1)), /65536 is the most/)
  })

  test('memorySessions keeps so many sessions, and those that were used last', async () => {
    const store = memorySessions({ maxSessions: 2 })
    const record = { value: 'x', version: 1, ttl: 60_000 }
    await store.set('a', record)
    await store.set('b', record)
    await store.touch('a', 60_000)
    await store.set('c', record)
    assert.equal(await store.get('b'), null)
    assert.notEqual(await store.get('a'), null)
    assert.throws(() => memorySessions({ maxSessions: 0 }), /memorySessions: maxSessions/)
    assert.throws(() => memorySessions({ max: 1 } as never), /memorySessions has no option "max"/)
  })
})

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

    test(`${kind}: a clock that was ahead makes no session that does not end`, async (t) => {
      const browser = new Browser(shop(options()))
      const wall = Date.now()
      let ahead = 365 * 86_400_000
      t.mock.method(Date, 'now', () => wall + ahead)
      await browser.text('/sign-in/ada', 'POST')
      assert.equal(await browser.text('/user'), 'ada')
      ahead -= 60_000
      assert.equal(await browser.text('/user'), 'ada')
      ahead = 0
      assert.equal(await browser.text('/user'), 'nobody')
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

  test('signedIn without a session in front is a mistake of the app', async () => {
    const app = kit.app()
    app.with(session<Data>({ keys: [key] }).signedIn('user')).get('/', () => 'x')
    assert.equal((await app.inject('/')).status, 500)
    assert.match(String(kit.reports.at(-1)), /register it behind app\.with\(sessions\)/)
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
