/** Rate limits in a Redis that fails: requests are answered, and the store counts again once it can. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, RedisServer, testClock, turns } from '@volant/test-kit'
import { onEachClient } from './rate-limit-store.ts'

onEachClient((place) => {
  const { send, reports, build, statuses, tally, recovers } = place

  test('SCRIPT FLUSH and FLUSHALL', async () => {
    const app = build({ max: 3 })
    assert.deepEqual(await statuses(app, 1), [200])
    await send('SCRIPT', 'FLUSH')
    assert.deepEqual(await statuses(app, 1), [200])
    await send('FLUSHALL')
    assert.deepEqual(await statuses(app, 4), [200, 200, 200, 429])
    assert.equal(app.limiter.stats().storeErrors, 0)
  })

  test('errors of the server: reported once, and onStoreError decides', async (t) => {
    const clock = testClock(t)
    for (const [onStoreError, expected] of [
      ['local', [200, 200, 429, 429]],
      ['allow', [200, 200, 200, 200]],
      ['deny', [503, 503, 503, 503]],
    ] as const) {
      const app = build({ max: 4, workers: onStoreError === 'local' ? 2 : 1, onStoreError })
      const key = `volant-rate-limit:{${app.group}:127.0.0.1}:${app.group}`
      await send('RPUSH', key, 'no count')
      reports.length = 0
      assert.deepEqual(await statuses(app, 4), expected, onStoreError)
      assert.equal(reports.length, 1)
      assert.match(reports[0] as string, /the store of the rate limit g\d+ fails \(.*WRONGTYPE/)
      await send('DEL', key)
      await recovers(app, clock)
      assert.deepEqual((await app.inject('/')).headers['ratelimit-policy'], `"${app.group}";q=4;w=3600`)
    }
  })

  test('a count that is garbage begins anew', async () => {
    for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
      const app = build({ max: 2, algorithm })
      await send('SET', `volant-rate-limit:{${app.group}:127.0.0.1}:${app.group}`, 'garbage')
      assert.deepEqual(await statuses(app, 3), [200, 200, 429])
    }
  })

  test('a server that stops answering: requests are answered in time, and the store is left alone', async (t) => {
    const clock = testClock(t)
    const app = build({ max: 1_000_000, storeTimeout: 50 })
    await statuses(app, 1)
    try {
      do {
        await place.server.stop()
        const waiting = tally(app, 200)
        // A request asks the store in a turn of its own.
        await turns()
        await clock.advance(50)
        assert.deepEqual(await waiting, [200, 0])
        // It answers in time if another process lets it go on.
      } while (!app.limiter.stats().storeDown && place.server.hasRun())
      const { storeErrors } = app.limiter.stats()
      assert.equal(app.limiter.stats().storeDown, true)
      // The circuit is open: nobody waits.
      assert.deepEqual(await tally(app, 2_000), [2_000, 0])
      assert.ok(app.limiter.stats().storeErrors <= storeErrors + 30)
    } finally {
      place.server.goOn()
    }
    await recovers(app, clock)
  })

  test('a server that dies under load, and comes back', async () => {
    const app = build({ max: 1_000_000 })
    let answered = 0
    let stop = false
    reports.length = 0
    const load = Array.from({ length: 8 }, async () => {
      while (!stop) {
        const { status } = await app.inject('/')
        assert.equal(status, 200)
        answered++
        if (answered % 100 === 0) await turns(1)
      }
    })
    await eventually(() => answered > 200, 'requests are answered')
    await place.server.kill()
    const before = answered
    await eventually(() => answered > before + 500, 'requests are answered without the store')
    assert.equal(app.limiter.stats().storeDown, true)
    await place.server.start()
    await eventually(() => !app.limiter.stats().storeDown, 'the store counts again')
    stop = true
    await Promise.all(load)
    assert.equal(reports.length, 1)
  })

  test('a server that is not there at the start', async (t) => {
    const late = await RedisServer.make()
    const other = place.connect(late.port)
    try {
      const app = build({ max: 2, store: other.store })
      assert.deepEqual(await statuses(app, 3), [200, 200, 429])
      await late.start()
      await eventually(() => other.isReady(), 'the client is connected')
      await recovers(app, testClock(t))
      // The store has counts of its own.
      await app.limiter.reset('127.0.0.1')
      assert.deepEqual(await statuses(app, 3), [200, 200, 429])
    } finally {
      other.end()
      await late.end()
    }
  })
})
