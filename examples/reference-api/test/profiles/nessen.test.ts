import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serving } from './kit.ts'

describe('nessen', () => {
  test('its five routes', () =>
    serving('nessen', async (ask) => {
      const home = await ask('/')
      assert.equal(home.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(home.headers.get('x-content-type-options'), 'nosniff')
      assert.match(home.headers.get('x-request-id') ?? '', /./)
      const live = await ask('/health')
      assert.equal(live.value, 'OK')
      assert.equal(live.headers.get('x-content-type-options'), null)
      assert.equal((await ask('/health', { method: 'HEAD' })).status, 200)
      assert.equal((await ask('/ready')).value, 'Ready')
      const health = (await ask('/api/health')).value as { ok: boolean; requests: { total: number } }
      assert.equal(health.ok, true)
      assert.ok(health.requests.total >= 4)
      const badge = await ask('/badge/status/ok.svg')
      assert.equal(badge.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
      assert.match(badge.value as string, />status<.*>ok</)
      assert.equal(badge.headers.get('content-encoding'), null)
      const large = await ask(`/badge/${'&'.repeat(200)}/ok.svg`, {
        headers: { 'accept-encoding': 'gzip' },
      })
      assert.equal(large.headers.get('content-encoding'), 'gzip')
    }))

  test('nobody is told 429 after a hundred requests', () =>
    serving('nessen', async (ask) => {
      for (let count = 0; count < 150; count++) {
        const reply = await ask('/ready')
        assert.equal(reply.status, 200)
        assert.match(reply.headers.get('ratelimit') ?? '', /^"default";r=\d+;t=\d+$/)
      }
    }))

  test('with a limit of 2 a minute they are, behind all of its stack but not at /health', () =>
    serving(
      'nessen',
      async (ask) => {
        const statuses: number[] = []
        for (let count = 0; count < 3; count++) statuses.push((await ask('/ready')).status)
        assert.deepEqual(statuses, [200, 200, 429])
        const refused = await ask('/')
        assert.equal(refused.status, 429)
        assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
        assert.equal(refused.headers.get('x-content-type-options'), 'nosniff')
        assert.equal((await ask('/health')).status, 200)
      },
      // So one more is let through after 30 s, and not while a slow machine still asks.
      { rateLimit: 2 },
    ))
})
