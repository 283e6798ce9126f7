/** Sessions that the cookie itself holds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stderrLines } from '../kit.ts'
import { Browser, key, kit, shop } from './kit.ts'

const older = 'o'.repeat(32)

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
