/** Sessions in a cluster of Redis, and what `redisSessions` refuses. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { redisSessions } from 'volant/redis'
import type { SessionStore } from 'volant/session'
import { eventually, type RedisServer, withoutRedis } from '@volant/test-kit'
import { startCluster } from './cluster.ts'
import { ask, build, signIn } from './session-store.ts'

describe('redisSessions in a cluster of Redis', { skip: withoutRedis }, () => {
  let server: RedisServer
  before(async () => {
    server = await startCluster()
  })
  after(() => server.end())

  const holds = async (store: SessionStore): Promise<void> => {
    const app = build(store)
    const cookie = await signIn(app)
    for (let at = 0; at < 5; at++) assert.equal((await ask(app, 'POST', `/set/k${at}`, cookie)).status, 200)
    assert.equal((await ask(app, 'GET', '/count', cookie)).text, '5')
    assert.equal((await ask(app, 'POST', '/out', cookie)).status, 200)
    assert.equal((await ask(app, 'GET', '/count', cookie)).text, '0')
  }

  test('through a client of redis', async () => {
    const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${server.port}` }] })
    const store = redisSessions(client)
    await client.connect()
    try {
      await holds(store)
    } finally {
      client.destroy()
    }
  })

  test('through a client of ioredis', async () => {
    const client = new Cluster([{ host: '127.0.0.1', port: server.port }])
    try {
      const store = redisSessions(client)
      await eventually(() => client.status === 'ready', 'the client is connected')
      await holds(store)
    } finally {
      client.disconnect()
    }
  })
})

test('redisSessions refuses what is no client, and names that are none', () => {
  for (const wrong of [undefined, {}, 'redis://localhost']) {
    assert.throws(() => redisSessions(wrong as never), /redisSessions takes a client of redis/)
  }
  const client = { eval: () => {}, evalSha: () => {}, del: () => {}, on: () => {} }
  assert.throws(() => redisSessions(client as never, { nameSpace: 'a b' }), /nameSpace/)
  assert.throws(() => redisSessions(client as never, { prefix: 'a' } as never), /has no option "prefix"/)
})
