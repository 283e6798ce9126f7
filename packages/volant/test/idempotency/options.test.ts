import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { idempotency, memoryKeys } from 'volant/idempotency'
import { FakeSupervisor } from '../fake-supervision.ts'
import { counting, kit } from './kit.ts'

describe('a request with Idempotency-Key', () => {
  test('is refused by a second middleware of the same kind', async () => {
    const app = counting({}, (each) => each.post('/two', idempotency({ store: memoryKeys() }), () => 'x'))
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/two', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      assert.equal(reply.status, 500)
      assert.match(String(kit.reports.at(-1)), /E_MIDDLEWARE_CONFLICT|two middlewares of idempotency/)
    })
  })
})

describe('options of idempotency', () => {
  test('that make no sense are refused', () => {
    const store = memoryKeys()
    for (const [options, message] of [
      [{}, /idempotency takes a store: redisKeys\(client\)/],
      [{ store: {} }, /idempotency: store takes/],
      [{ store, ttl: 5 }, /idempotency has no option "ttl".*keepFor/],
      [{ store, methods: ['GET'] }, /idempotency: methods/],
      [{ store, keepFor: 0 }, /idempotency: keepFor/],
      [{ store, lockTimeout: '1 week' }, /idempotency: lockTimeout/],
      [{ store, maxReplySize: -1 }, /idempotency: maxReplySize/],
      [{ store, onStoreError: 'local' }, /idempotency: onStoreError/],
      [{ store, scope: 'a' }, /idempotency: scope/],
    ] as const) {
      assert.throws(() => idempotency(options as never), { code: 'E_BAD_OPTION', message })
    }
  })

  test('stores in memory are refused where there are several workers', async () => {
    const { memorySessions } = await import('volant/session')
    const [several, one] = [new FakeSupervisor(2).start(0), new FakeSupervisor(1).start(0)]
    for (const make of [(): object => memoryKeys(), (): object => memorySessions()]) {
      assert.throws(() => several.run(make), {
        code: 'E_BAD_OPTION',
        message: /in one process, and there are 2 workers/,
      })
      one.run(make)
    }
  })
})
