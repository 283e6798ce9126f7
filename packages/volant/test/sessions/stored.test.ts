/** Sessions in a store, and how it is asked. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memorySessions, session, type SessionStore } from 'volant/session'
import { brittle, Browser, type Data, kit, shop } from './kit.ts'

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
