import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { type KeyStore, memoryKeys } from 'volant/idempotency'
import { type Reply } from '../kit.ts'
import { codeOf, counting, kit, pay } from './kit.ts'

describe('a store that fails', () => {
  const failing = (from: { isDown: boolean }): KeyStore => {
    const keys = memoryKeys()
    const guard = <T>(work: () => Promise<T>): Promise<T> =>
      from.isDown ? Promise.reject(new Error('away')) : work()
    return {
      get: (key) => guard(() => keys.get(key)),
      set: (...values) => guard(() => keys.set(...values)),
      del: (...values) => guard(() => keys.del(...values)),
    }
  }

  test('has requests with a key refused, or let through, and others are not concerned', async () => {
    for (const [onStoreError, status, runs] of [
      ['deny', 503, 1],
      ['allow', 201, 3],
    ] as const) {
      const app = counting({ store: failing({ isDown: true }), onStoreError })
      await kit.serve(app, async (live) => {
        for (let each = 0; each < 2; each++) {
          const reply = await pay(live, 'k')
          assert.equal(reply.status, status)
          assert.equal(reply.headers['retry-after'], status === 503 ? '1' : undefined)
        }
        assert.equal((await pay(live, null)).status, 201)
        assert.equal(app.runs.count, runs)
      })
    }
  })

  test('is offered a reply again that it did not take', async (t) => {
    const clock = testClock(t)
    const from = { isDown: false }
    const app = counting({ store: failing(from) }, (each) =>
      each.post('/then-away', () => {
        from.isDown = true
        return 'kept later'
      }),
    )
    await kit.serve(app, async (live) => {
      const ask = (): Promise<Reply> =>
        live.ask('/then-away', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      assert.equal((await ask()).text, 'kept later')
      assert.equal((await ask()).status, 503)
      from.isDown = false
      let again = await ask()
      assert.equal(again.status, 409)
      await clock.advance(999)
      assert.equal((await ask()).status, 409)
      await clock.advance(1)
      again = await ask()
      assert.deepEqual([again.status, again.text], [200, 'kept later'])
    })
  })

  test('has values of others: they are no replies', async () => {
    const other: KeyStore = {
      get: async () => '{"status":200,"headers":[],"text":"of somebody"}',
      set: async () => false,
      del: async () => false,
    }
    await kit.serve(counting({ store: other }), async (live) => {
      assert.deepEqual(codeOf(await pay(live, 'k')), [503, 'E_IDEMPOTENCY_STORE'])
    })
  })
})
