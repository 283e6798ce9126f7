import assert from 'node:assert/strict'
import { beforeEach, describe, test, type TestContext } from 'node:test'
import { testClock } from '@volant/test-kit'
import { before, type Context } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { stderrLines } from '../kit.ts'
import { kit, limited, statuses, fields, byName } from './kit.ts'

describe('rateLimit', () => {
  // No unit comes back in the midst of a case.
  beforeEach((t) => void testClock(t as TestContext))

  test('keys: a text or number of the app, the address where it gives none', async () => {
    for (const later of [false, true]) {
      const app = limited({
        max: 1,
        keyGenerator: (ctx) => (later ? Promise.resolve(byName(ctx)) : byName(ctx)),
      })
      assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
      assert.deepEqual(await statuses(app, 2, { 'x-name': 'ida' }), [200, 429])
      assert.deepEqual(await statuses(app, 2), [200, 429])
      // It is no way to take the units of an address.
      assert.deepEqual(await statuses(app, 2, { 'x-name': '127.0.0.1' }), [200, 429])
      const long = 'x'.repeat(4_000)
      assert.deepEqual(await statuses(app, 2, { 'x-name': `${long}a` }), [200, 429])
      assert.deepEqual(await statuses(app, 2, { 'x-name': `${long}b` }), [200, 429])
    }
  })

  test('a key that is no text is a mistake of the app', async () => {
    const app = limited({ max: 1, keyGenerator: () => ({}) as string })
    assert.equal((await app.inject('/')).status, 500)
    assert.match(String(kit.reports.at(-1)), /keyGenerator gave .* for GET \//)
  })

  test('what an earlier middleware found out may be the key', async () => {
    const app = kit.app()
    const scope = app.with(
      before<{ user: string }>((ctx) => void (ctx.state.user = ctx.headers['x-name'] ?? '')),
    )
    scope.use(rateLimit({ max: 1, keyGenerator: (ctx) => ctx.state.user }))
    scope.get('/', (ctx) => ctx.state.user)
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ida' }), [200, 429])
  })

  test('X-Forwarded-For changes nothing, unless the peer is a trusted proxy', async () => {
    const app = limited({ max: 1 })
    const lines = await stderrLines(async () => {
      assert.deepEqual(await statuses(app, 1, { 'x-forwarded-for': '192.0.2.1' }), [200])
      assert.deepEqual(await statuses(app, 2, { 'x-forwarded-for': '192.0.2.2' }), [429, 429])
    })
    assert.equal(lines.length, 1)
    assert.match(lines[0] as string, /^volant: rateLimit\(\) refused .* trustProxy/)
    const trusting = limited({ max: 1 }, { trustProxy: true })
    const from = (address: string) => statuses(trusting, 1, { 'x-forwarded-for': address })
    assert.deepEqual(await from('192.0.2.1'), [200])
    assert.deepEqual(await from('192.0.2.2'), [200])
    assert.deepEqual(await from('192.0.2.1'), [429])
    assert.deepEqual(await from('::ffff:192.0.2.1'), [429])
    assert.deepEqual(await from('::ffff:c000:201'), [429])
    assert.deepEqual(await from('2001:db8::1'), [200])
    assert.deepEqual(await from('2001:db8::ffff:2'), [429])
    assert.deepEqual(await from('2001:db8:0:1::1'), [200])
  })

  test('reset by a key of the app', async () => {
    const app = limited({ max: 1, keyGenerator: byName })
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
    await app.limiter.reset('ada')
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'ada' }), [200, 429])
    for (const given of [5, null, {}]) {
      await assert.rejects(app.limiter.reset(given as never), /a context, an address or a key/)
    }
  })

  test('allowList: addresses, ranges, keys or a function', async () => {
    const isAlice = (_: Context, key: string) => key === '=alice'
    for (const allowList of [['127.0.0.1'], ['10.0.0.0/8', 'loopback'], () => true, async () => true]) {
      const app = limited({ max: 1, allowList })
      assert.deepEqual(await statuses(app, 3), [200, 200, 200])
      assert.deepEqual(fields((await app.inject('/')).headers), [undefined, undefined])
    }
    for (const allowList of [['alice'], isAlice]) {
      const app = limited({ max: 1, keyGenerator: byName, allowList })
      assert.deepEqual(await statuses(app, 3, { 'x-name': 'alice' }), [200, 200, 200])
      assert.deepEqual(await statuses(app, 2, { 'x-name': 'bob' }), [200, 429])
    }
  })

  test('allowList: the keys of all policies', async () => {
    const app = limited({
      policies: { address: { max: 1 }, name: { max: 1, keyGenerator: byName } },
      allowList: ['alice'],
    })
    assert.deepEqual(await statuses(app, 3, { 'x-name': 'alice' }), [200, 200, 200])
    assert.deepEqual(await statuses(app, 2, { 'x-name': 'bob' }), [200, 429])
  })
})
