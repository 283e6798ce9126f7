import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import {
  type IdempotencyOptions,
  idempotency,
  type KeyStore,
  memoryKeys,
  type SetOptions,
} from 'volant/idempotency'
import { type Live, type Reply, stderrLines } from '../kit.ts'
import { codeOf, kit } from './kit.ts'

describe('memoryKeys', () => {
  test('writes and deletes under conditions, and forgets in time', async (t) => {
    const clock = testClock(t)
    const keys = memoryKeys()
    assert.equal(await keys.set('a', '1', { ifAbsent: true }), true)
    assert.equal(await keys.set('a', '2', { ifAbsent: true }), false)
    assert.equal(await keys.set('a', '2', { ifEqual: 'x' }), false)
    assert.equal(await keys.set('a', '2', { ifEqual: '1', expires: 60_000 }), true)
    assert.equal(await keys.get('a'), '2')
    assert.equal(await keys.set('a', '2', { ifEqual: '2', expires: 30 }), true)
    await clock.advance(29)
    assert.equal(await keys.get('a'), '2')
    await clock.advance(1)
    assert.equal(await keys.get('a'), null)
    assert.equal(await keys.set('a', '3', { ifEqual: '2' }), false)
    assert.equal(await keys.set('a', '3'), true)
    assert.deepEqual(
      [await keys.del('a', { ifEqual: 'x' }), await keys.del('a'), await keys.del('a')],
      [false, true, false],
    )
    await assert.rejects(keys.set('a', '', { ifAbsent: true, ifEqual: '' }), { code: 'E_BAD_OPTION' })
    await assert.rejects(keys.set('a', '', { expires: 0 }), { code: 'E_BAD_OPTION' })
  })

  test('drops nothing but replies before its time, and is full at last', async (t) => {
    const clock = testClock(t)
    const keys = memoryKeys({ maxSize: 65_536 })
    const value = 'x'.repeat(65_536 - 201)
    await keys.set('a', value.slice(1), { expires: 1_000_000 })
    await assert.rejects(keys.set('b', ''), {
      code: 'E_IDEMPOTENCY_STORE',
      message: /memoryKeys\(\) is full/,
    })
    assert.equal(await keys.set('a', value), true)
    await assert.rejects(keys.set('a', `${value}x`), { code: 'E_IDEMPOTENCY_STORE' })
    assert.equal(await keys.get('a'), value)
    await keys.del('a')
    await keys.set('b', value, { expires: 10 })
    await clock.advance(9)
    await assert.rejects(keys.set('c', value), { code: 'E_IDEMPOTENCY_STORE' })
    await clock.advance(1)
    assert.equal(await keys.set('c', value), true)
    assert.equal(await keys.get('b'), null)
  })

  test('says whose room is used up, also where most of the store is', async () => {
    const keys = memoryKeys({ maxSize: 65_536 })
    const ofEve = { owner: 'eve' } as SetOptions
    await keys.set('a', 'x'.repeat(12_000), ofEve)
    await keys.set('b', 'x'.repeat(40_000))
    await assert.rejects(keys.set('c', 'x'.repeat(6_000), ofEve), { message: /another key of a caller/ })
    await assert.rejects(keys.set('c', 'x'.repeat(20_000)), { message: /memoryKeys\(\) is full/ })
  })
})

test('a reply that is written after its lock ran out is counted for its caller', async () => {
  const app = kit.app()
  const store = memoryKeys()
  const owners: unknown[] = []
  let isFirst = true
  const lossy: KeyStore = {
    get: (key) => store.get(key),
    del: (key, options) => store.del(key, options),
    async set(key, value, options) {
      owners.push((options as { owner?: string }).owner)
      // The time of the key is over when its reply comes.
      if (isFirst && options?.ifEqual !== undefined) {
        isFirst = false
        await store.del(key)
      }
      return store.set(key, value, options)
    },
  }
  app.use(idempotency({ store: lossy, scope: () => 'Ann' }))
  app.post('/', () => 'done')
  await kit.serve(app, async (live) => {
    const ask = () => live.ask('/', { method: 'POST', headers: { 'idempotency-key': 'k' } })
    assert.deepEqual([(await ask()).text, (await ask()).headers['idempotent-replayed']], ['done', 'true'])
  })
  const [taken, , late] = owners
  assert.equal(typeof taken, 'string')
  assert.equal(late, taken)
})

describe('memoryKeys without room', () => {
  /** An app whose callers are named by a field, and whose replies have as many bytes as the request asks for. */
  const crowded = (options: Partial<IdempotencyOptions> = {}) => {
    const app = kit.app()
    const runs = { count: 0 }
    const scope: IdempotencyOptions['scope'] = (ctx) => ctx.headers['x-caller'] ?? ''
    app.use(idempotency({ store: memoryKeys({ maxSize: 65_536 }), scope, ...options }))
    app.post('/', (ctx) => {
      runs.count++
      return 'x'.repeat(Number(ctx.headers['x-size']))
    })
    const ask = (live: Live, caller: string, key: string, size: number): Promise<Reply> =>
      live.ask('/', {
        method: 'POST',
        headers: { 'idempotency-key': key, 'x-caller': caller, 'x-size': String(size) },
      })
    return Object.assign(app, { runs, from: ask })
  }

  test('forgets the oldest replies, and their requests do not run again', async () => {
    const app = crowded()
    await kit.serve(app, async (live) => {
      const lines = await stderrLines(async () => {
        for (let each = 0; each < 100; each++) {
          assert.equal((await app.from(live, `caller ${each}`, 'k', 1_000)).status, 200)
        }
      })
      assert.match(
        lines.join(''),
        /memoryKeys\(\) has no room for all replies.*maxSize, which is 65536 bytes/,
      )
      assert.equal(lines.length, 1)
      assert.deepEqual(codeOf(await app.from(live, 'caller 0', 'k', 1_000)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal((await app.from(live, 'caller 99', 'k', 1_000)).headers['idempotent-replayed'], 'true')
      assert.equal(app.runs.count, 100)
    })
  })

  test('gives one caller a sixteenth for replies and a quarter for keys; others keep theirs', async () => {
    const app = crowded()
    await kit.serve(app, async (live) => {
      await app.from(live, 'ada', 'k', 2_000)
      const statuses: number[] = []
      await stderrLines(async () => {
        // It never fits, and is not kept from the beginning.
        await app.from(live, 'eve', 'long', 5_000)
        for (let each = 0; each < 100; each++) {
          statuses.push((await app.from(live, 'eve', `k${each}`, 1_000)).status)
        }
      })
      assert.deepEqual(codeOf(await app.from(live, 'eve', 'long', 5_000)), [409, 'E_IDEMPOTENCY_LOST'])
      // Each of her keys has 345 bytes or so: 16,384 bytes are full of them at last.
      const served = statuses.filter((status) => status === 200).length
      assert.ok(served > 20 && served < 80, `${served} requests`)
      assert.deepEqual(
        [statuses.slice(0, served), new Set(statuses.slice(served))],
        [Array.from({ length: served }, () => 200), new Set([503])],
      )
      assert.match(String(kit.reports.at(-1)), /no room.*for another key of a caller.*This is said once/s)
      assert.equal((await app.from(live, 'ada', 'k', 2_000)).headers['idempotent-replayed'], 'true')
      assert.equal((await app.from(live, 'bob', 'k', 2_000)).status, 200)
      assert.equal((await app.from(live, 'bob', 'k', 2_000)).headers['idempotent-replayed'], 'true')
      assert.deepEqual(codeOf(await app.from(live, 'eve', 'k0', 1_000)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal(app.runs.count, served + 3)
    })
  })

  test('is no store that is down: what it has is found, however often it refuses', async () => {
    const store = memoryKeys({ maxSize: 65_536 })
    const app = crowded({ store })
    await kit.serve(app, async (live) => {
      assert.equal((await app.from(live, 'ada', 'k', 10)).status, 200)
      // What is no reply is never forgotten.
      await stderrLines(async () => {
        for (let size = 32_768, each = 0; size > 0; each++) {
          const isSet = await store.set(`other ${each}`, 'x'.repeat(size)).catch(() => false)
          if (!isSet) size >>= 1
        }
      })
      for (let each = 0; each < 10; each++) {
        const reply = await app.from(live, 'ada', `another-${each}`, 10)
        assert.deepEqual(codeOf(reply), [503, 'E_IDEMPOTENCY_STORE'])
      }
      assert.deepEqual(codeOf(await app.from(live, 'ada', 'k', 10)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal(app.runs.count, 1)
    })
  })
})
