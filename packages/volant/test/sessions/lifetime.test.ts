/** When sessions end, and when their cookies are sent again. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { memorySessions } from 'volant/session'
import { Browser, kinds, shop } from './kit.ts'

for (const [kind, options] of kinds) {
  describe(`session, ${kind}`, () => {
    test('a session that is not used ends after its idle time, and one that is used does not', async (t) => {
      const browser = new Browser(shop({ ...options(), idleTimeout: '10 minutes' }))
      const clock = testClock(t)
      await browser.text('/sign-in/ada', 'POST')
      for (let each = 0; each < 5; each++) {
        // A sealed session keeps seconds.
        await clock.advance(10 * 60_000 - 1_000)
        assert.equal(await browser.text('/user'), 'ada')
      }
      await clock.advance(10 * 60_000)
      assert.equal(await browser.text('/user'), 'nobody')
    })

    test('no session outlives its absolute time', async (t) => {
      const browser = new Browser(
        shop({ ...options(), idleTimeout: '10 minutes', absoluteTimeout: '30 minutes' }),
      )
      const clock = testClock(t)
      await browser.text('/sign-in/ada', 'POST')
      for (const user of ['ada', 'ada', 'ada', 'nobody']) {
        await clock.advance(8 * 60_000)
        assert.equal(await browser.text('/user'), user)
      }
    })

    test('a session is extended at most once a minute', async (t) => {
      const store = memorySessions()
      const touch = t.mock.method(store, 'touch')
      const browser = new Browser(shop(kind === 'sealed' ? options() : { store }))
      const clock = testClock(t)
      await browser.text('/sign-in/ada', 'POST')
      let times = 0
      for (let each = 0; each < 12; each++) {
        await clock.advance(10_000)
        const { headers } = await browser.ask('/user')
        if (headers['set-cookie'] !== undefined) times++
      }
      assert.equal(kind === 'sealed' ? times : touch.mock.callCount(), kind === 'sealed' ? 2 : 1)
    })

    test('a reply that caches may share does not extend the session', async (t) => {
      const clock = testClock(t)
      const app = shop(options(), (scope) =>
        scope.get('/shared', (ctx) => {
          ctx.header('cache-control', 'public, max-age=60')
          return String(ctx.state.session.get('user'))
        }),
      )
      const browser = new Browser(app)
      await browser.text('/sign-in/ada', 'POST')
      await clock.advance(120_000)
      const reply = await browser.ask('/shared')
      assert.equal(reply.text(), 'ada')
      assert.equal(reply.headers['set-cookie'], undefined)
      assert.equal(reply.headers['cache-control'], 'public, max-age=60')
    })
  })
}

describe('sessions and the rest of the framework', () => {
  for (const [kind, options] of kinds) {
    test(`${kind}: a clock that was ahead makes no session that does not end`, async (t) => {
      const browser = new Browser(shop(options()))
      const clock = testClock(t)
      const right = new Date('2026-01-01T00:00:00Z').getTime()
      const ahead = right + 365 * 86_400_000
      clock.setDate(ahead)
      await browser.text('/sign-in/ada', 'POST')
      assert.equal(await browser.text('/user'), 'ada')
      clock.setDate(ahead - 60_000)
      assert.equal(await browser.text('/user'), 'ada')
      clock.setDate(right)
      assert.equal(await browser.text('/user'), 'nobody')
    })
  }
})
