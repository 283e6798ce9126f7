/** Stores that fail, hang, or give what no session wrote. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { HTTPError, middleware } from 'volant'
import { memorySessions, sqliteSessions } from 'volant/session'
import { atLimit } from '../time-limit.ts'
import { brittle, Browser, shop } from './kit.ts'

describe('session, stored', () => {
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

  test('a record that no session wrote is none, whatever it says came after it', async (t) => {
    const store = brittle()
    const app = shop({ store })
    const cookie = `__Host-session=${'a'.repeat(32)}`
    const began = new Date('2026-01-01T00:00:00Z').getTime()
    testClock(t).setDate(began)
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
    const clock = testClock(t)
    const store = brittle()
    const browser = new Browser(shop({ store, storeTimeout: 5 }))
    await browser.text('/sign-in/ada', 'POST')
    store.fault = () => new Promise<never>(() => {})
    // After a second it would be asked again.
    for (let each = 0; each < 5; each++) {
      const reply = await atLimit(browser.ask('/user'), clock, 5)
      assert.equal(reply.status, 503)
    }
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
})
