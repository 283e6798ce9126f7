/** What a sign-in leaves of the session before it, and what a replay of that one ends. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { memorySessions } from 'volant/session'
import { Browser, shop } from './kit.ts'

describe('session, stored', () => {
  test('the id of before a sign-in shows what was before for ten seconds, and then ends both', async (t) => {
    const app = shop({ store: memorySessions() })
    const clock = testClock(t)
    const [ada, eve] = [new Browser(app), new Browser(app)]
    await eve.text('/cart/1', 'POST')
    // Eve has Ada use her session.
    for (const [name, value] of eve.cookies) ada.cookies.set(name, value)
    await ada.text('/sign-in/ada', 'POST')
    await clock.advance(9_999)
    assert.equal(await eve.text('/user'), 'nobody')
    assert.equal(await eve.text('/cart'), '[1]')
    const refused = await eve.ask('/cart/2', 'POST')
    assert.equal(refused.status, 409)
    assert.equal(await ada.text('/user'), 'ada')
    await clock.advance(1)
    assert.equal(await eve.text('/cart'), '[]')
    assert.equal(await ada.text('/user'), 'nobody')
  })

  test('a replay ends what took the place of what took the place of a session', async (t) => {
    const app = shop({ store: memorySessions() })
    const clock = testClock(t)
    const old = new Browser(app)
    await old.text('/cart/1', 'POST')
    const browser = new Browser(app)
    for (const [name, value] of old.cookies) browser.cookies.set(name, value)
    for (const user of ['a', 'b', 'c']) await browser.text(`/sign-in/${user}`, 'POST')
    assert.equal(await browser.text('/user'), 'c')
    await clock.advance(10_000)
    assert.equal(await old.text('/user'), 'nobody')
    assert.equal(await browser.text('/user'), 'nobody')
  })

  test('two sign-ins at once over one session both hold, and a replay ends both', async (t) => {
    const app = shop({ store: memorySessions() })
    const clock = testClock(t)
    const old = new Browser(app)
    await old.text('/cart/1', 'POST')
    const browsers = [new Browser(app), new Browser(app)] as const
    for (const each of browsers) for (const [name, value] of old.cookies) each.cookies.set(name, value)
    await Promise.all([browsers[0].text('/sign-in/a', 'POST'), browsers[1].text('/sign-in/b', 'POST')])
    assert.deepEqual([await browsers[0].text('/user'), await browsers[1].text('/user')], ['a', 'b'])
    await clock.advance(10_000)
    assert.equal(await old.text('/user'), 'nobody')
    assert.deepEqual([await browsers[0].text('/user'), await browsers[1].text('/user')], ['nobody', 'nobody'])
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
})
