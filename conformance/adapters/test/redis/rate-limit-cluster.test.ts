/** Rate limits in a cluster of Redis. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { createApp } from 'volant'
import { rateLimit, type RateLimitStore } from 'volant/rate-limit'
import { redisStore } from 'volant/redis'
import { eventually, type RedisServer, withoutRedis } from '@volant/test-kit'
import { startCluster } from './cluster.ts'
import { nextGroup } from './rate-limit-store.ts'

describe('redisStore in a cluster of Redis', { skip: withoutRedis }, () => {
  let server: RedisServer
  before(async () => {
    server = await startCluster()
  })
  after(() => server.end())

  const passes = async (store: RateLimitStore): Promise<void> => {
    for (const keyGenerator of [undefined, () => 'all']) {
      const limiter = rateLimit({
        groupId: nextGroup(),
        store,
        storeTimeout: 20_000,
        policies: { a: { max: 3, timeWindow: '1 hour' }, b: { max: 2, timeWindow: '1 hour', keyGenerator } },
      })
      const app = createApp({ signals: false })
      app.use(limiter)
      app.get('/', () => 'x')
      // The first commands of a cluster wait until it knows its nodes.
      for (const status of [200, 200, 429, 429]) assert.equal((await app.inject('/')).status, status)
      await limiter.reset('127.0.0.1')
      await limiter.reset('all')
      assert.equal((await app.inject('/')).status, 200)
      assert.equal(limiter.stats().storeErrors, 0)
    }
  }

  test('through a client of redis', async () => {
    const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${server.port}` }] })
    const store = redisStore(client)
    await client.connect()
    try {
      await passes(store)
    } finally {
      client.destroy()
    }
  })

  test('through a client of ioredis', async () => {
    const client = new Cluster([{ host: '127.0.0.1', port: server.port }])
    try {
      const store = redisStore(client)
      await eventually(() => client.status === 'ready', 'the client is connected')
      await passes(store)
    } finally {
      client.disconnect()
    }
  })
})
