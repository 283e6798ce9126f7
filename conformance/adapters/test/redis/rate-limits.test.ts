/** Rate limits in Redis count as in memory, and exactly over several processes. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { test } from 'node:test'
import { type Context, createApp } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { eventually } from '@volant/test-kit'
import { onEachClient } from './rate-limit-store.ts'

/** Gives the fields with their times in hundreds of seconds, since requests take time. */
function withoutSeconds(field: unknown): string {
  return String(field).replace(/(?<=t=|^)\d+/g, (text) => String(Math.ceil(Number(text) / 100)))
}

onEachClient((place) => {
  const { send, build, statuses } = place

  test('every algorithm counts as in memory', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const [shared, own] = [build({ max: 3, algorithm }), createApp({ signals: false })]
      own.use(rateLimit({ max: 3, algorithm, timeWindow: '1 hour', groupId: shared.group }))
      own.get('/', () => 'x')
      for (const status of [200, 200, 200, 429, 429]) {
        const [one, other] = [await shared.inject('/'), await own.inject('/')]
        assert.deepEqual([one.status, other.status], [status, status], algorithm)
        for (const field of ['ratelimit-policy', 'ratelimit', 'retry-after']) {
          const [shown, expected] = [one, other].map(({ headers }) => withoutSeconds(headers[field]))
          assert.equal(shown, expected, `${algorithm}: ${field}`)
        }
      }
      await own.close()
      await shared.close()
    }
  })

  test('units come back with time', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const app = build({ max: 2, timeWindow: 60, algorithm })
      // The clock is the server's.
      await eventually(async () => {
        await statuses(app, 1)
        const { allowed, refused } = app.limiter.stats()
        return allowed >= 8 && refused > 0
      }, `${algorithm}: units come back, and are refused before`)
    }
  })

  test('counts expire, and a key takes little', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const app = build({ max: 3, timeWindow: 60_000, algorithm })
      await statuses(app, 1)
      const key = `volant-rate-limit:{${app.group}:127.0.0.1}:${app.group}`
      const left = Number(await send('PTTL', key))
      // A sliding window counts in the one after it.
      const least = algorithm === 'sliding' ? 60_000 : 0
      assert.ok(left > least && left <= 120_000, `${algorithm}: ${left}`)
      assert.ok(Number(await send('MEMORY', 'USAGE', key)) < 250)
    }
  })

  test('several policies are checked in one step, and none is charged if one refuses', async () => {
    const byName = (ctx: Context) => ctx.headers['x-name']
    const app = build({
      policies: { name: { max: 2, keyGenerator: byName }, all: { max: 3, keyGenerator: () => 'all' } },
    })
    assert.deepEqual(await statuses(app, 3, { 'x-name': 'ada' }), [200, 200, 429])
    assert.deepEqual(await statuses(app, 1, { 'x-name': 'ida' }), [200])
    const refused = await app.inject({ url: '/', headers: { 'x-name': 'ida' } })
    assert.equal(withoutSeconds(refused.headers['ratelimit']), '"name";r=1;t=18, "all";r=0;t=12')
    const again = await app.inject({ url: '/', headers: { 'x-name': 'ida' } })
    // The process knows that `all` refuses, and did not ask about the other.
    assert.equal(withoutSeconds(again.headers['ratelimit']), '"all";r=0;t=12')
  })

  test('refund and reset', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      let refunds = true
      const app = build({ max: 2, algorithm, refund: () => refunds })
      assert.deepEqual(await statuses(app, 5), [200, 200, 200, 200, 200], algorithm)
      refunds = false
      assert.deepEqual(await statuses(app, 3), [200, 200, 429])
      await app.limiter.reset('127.0.0.1')
      assert.deepEqual(await statuses(app, 3), [200, 200, 429])
    }
  })

  test('two processes share one limit exactly', async () => {
    const url = `redis://127.0.0.1:${place.server.port}`
    await send('FLUSHALL')
    const counts = [0, 1].map(
      () =>
        new Promise<number[]>((resolve, reject) => {
          const child = fork(new URL('./worker.js', import.meta.url), [url, '700', '600'])
          child.once('message', (list) => resolve(list as number[]))
          child.once('error', reject)
          child.once('exit', (code) => code !== 0 && reject(new Error(`a worker ended with ${code}`)))
        }),
    )
    const all = (await Promise.all(counts)).flat()
    assert.equal(all.length, 1_200)
    assert.equal(all.filter((status) => status === 200).length, 700)
    assert.equal(all.filter((status) => status === 429).length, 500)
  })

  test('keys that are refused do not reach the store until their time', async () => {
    let asked = 0
    const { store } = place.client
    const counting = {
      ...store,
      take: (takes: Parameters<typeof store.take>[0]) => (asked++, store.take(takes)),
    }
    const app = build({ max: 5, store: counting })
    assert.equal((await statuses(app, 5)).join(), '200,200,200,200,200')
    for (let each = 0; each < 100; each++) {
      const reply = await app.inject('/')
      assert.deepEqual([reply.status, withoutSeconds(reply.headers['retry-after'])], [429, '8'])
    }
    assert.equal(asked, 6)
  })

  test('the clock of the process does not matter', async (t) => {
    const app = build({ max: 2, algorithm: 'fixed' })
    assert.deepEqual(await statuses(app, 1), [200])
    t.mock.method(Date, 'now', () => 5)
    assert.deepEqual(await statuses(app, 2), [200, 429])
  })
})
