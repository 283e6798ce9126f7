import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { type App, type Context, createApp } from 'volant'
import { rateLimit, type RateLimiter, type RateLimitOptions, type RateLimitStore } from 'volant/rate-limit'
import { redisStore } from 'volant/redis'
import { eventually, RedisServer, withoutRedis } from '@volant/test-kit'

const clients = {
  redis: (port: number) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 10 } })
    client.connect().catch(() => {})
    return {
      store: redisStore(client),
      isReady: () => client.isReady,
      send: (command: string[]): Promise<unknown> => client.sendCommand(command),
      end: () => client.destroy(),
    }
  },
  ioredis: (port: number) => {
    const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 10 })
    return {
      store: redisStore(client),
      isReady: () => client.status === 'ready',
      send: ([name = '', ...values]: string[]): Promise<unknown> => client.call(name, values),
      end: () => client.disconnect(),
    }
  },
}

let groups = 0

/** Gives the fields with their times in hundreds of seconds, since requests take time. */
function withoutSeconds(field: unknown): string {
  return String(field).replace(/(?<=t=|^)\d+/g, (text) => String(Math.ceil(Number(text) / 100)))
}

for (const [name, connect] of Object.entries(clients)) {
  describe(`redisStore with a client of ${name}`, { skip: withoutRedis }, () => {
    let server: RedisServer
    let client: ReturnType<typeof connect>
    const send = (...command: string[]): Promise<unknown> => client.send(command)

    before(async () => {
      server = await (await RedisServer.make()).start()
      client = connect(server.port)
      await eventually(() => client.isReady(), 'the client is connected')
    })
    after(async () => {
      client.end()
      await server.end()
    })

    const reports: string[] = []
    const build = (options: Omit<RateLimitOptions, 'store'> & { store?: RateLimitStore }) => {
      const app = createApp({
        signals: false,
        adapter: { type: 'node-http' },
        report: (error) => void reports.push(String(error)),
      })
      // A slow machine is no failing store here.
      const limiter = rateLimit({
        store: client.store,
        groupId: `g${++groups}`,
        storeTimeout: 20_000,
        timeWindow: '1 hour',
        ...options,
      })
      app.use(limiter)
      app.get('/', () => 'x')
      return Object.assign(app, { limiter, group: `g${groups}` })
    }
    const statuses = async (app: App, count: number, headers = {}): Promise<number[]> => {
      const list: number[] = []
      for (let each = 0; each < count; each++) list.push((await app.inject({ url: '/', headers })).status)
      return list
    }
    const tally = async (app: App, count: number): Promise<[passed: number, refused: number]> => {
      const replies = await Promise.all(Array.from({ length: count }, () => app.inject('/')))
      assert.ok(replies.every(({ status }) => status === 200 || status === 429))
      const passed = replies.filter(({ status }) => status === 200).length
      return [passed, count - passed]
    }
    const recovers = async (app: App & { limiter: RateLimiter }): Promise<void> => {
      const deadline = Date.now() + 30_000
      while (app.limiter.stats().storeDown) {
        assert.ok(Date.now() < deadline, 'never: the store counts again')
        await app.inject('/')
        await sleep(20)
      }
    }

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
        const deadline = Date.now() + 30_000
        for (let passed = 0; passed < 8 && Date.now() < deadline;) {
          const [status] = await statuses(app, 1)
          if (status === 200) passed++
        }
        assert.equal(app.limiter.stats().allowed, 8, algorithm)
        assert.ok(app.limiter.stats().refused > 0, algorithm)
      }
    })

    test('counts expire, and a key takes little', async () => {
      for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
        const app = build({ max: 3, timeWindow: 60_000, algorithm })
        await statuses(app, 1)
        const key = `volant-rate-limit:{${app.group}:127.0.0.1}:${app.group}`
        const left = Number(await send('PTTL', key))
        assert.ok(left > 0 && left <= 120_000, `${algorithm}: ${left}`)
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
      const url = `redis://127.0.0.1:${server.port}`
      await send('FLUSHALL')
      const counts = [0, 1].map(
        () =>
          new Promise<number[]>((resolve, reject) => {
            const child = fork(new URL('./redis/worker.js', import.meta.url), [url, '700', '600'])
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
      const { store } = client
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

    test('SCRIPT FLUSH and FLUSHALL', async () => {
      const app = build({ max: 3 })
      assert.deepEqual(await statuses(app, 1), [200])
      await send('SCRIPT', 'FLUSH')
      assert.deepEqual(await statuses(app, 1), [200])
      await send('FLUSHALL')
      assert.deepEqual(await statuses(app, 4), [200, 200, 200, 429])
      assert.equal(app.limiter.stats().storeErrors, 0)
    })

    test('errors of the server: reported once, and onStoreError decides', async () => {
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
        await recovers(app)
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

    test('a server that stops answering: requests are answered in time, and the store is left alone', async () => {
      const app = build({ max: 1_000_000, storeTimeout: 50 })
      await statuses(app, 1)
      server.signal('SIGSTOP')
      try {
        const begun = performance.now()
        assert.deepEqual(await tally(app, 200), [200, 0])
        const { storeErrors } = app.limiter.stats()
        assert.equal(app.limiter.stats().storeDown, true)
        // The circuit is open: nobody waits.
        assert.deepEqual(await tally(app, 2_000), [2_000, 0])
        assert.ok(app.limiter.stats().storeErrors <= storeErrors + 30)
        assert.ok(performance.now() - begun < 20_000)
      } finally {
        server.signal('SIGCONT')
      }
      await recovers(app)
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
          if (answered % 100 === 0) await sleep(1)
        }
      })
      await eventually(() => answered > 200, 'requests are answered')
      await server.kill()
      const before = answered
      await eventually(() => answered > before + 500, 'requests are answered without the store')
      assert.equal(app.limiter.stats().storeDown, true)
      await server.start()
      await eventually(() => !app.limiter.stats().storeDown, 'the store counts again')
      stop = true
      await Promise.all(load)
      assert.equal(reports.length, 1)
    })

    test('a server that is not there at the start', async () => {
      const late = await RedisServer.make()
      const other = connect(late.port)
      try {
        const app = build({ max: 2, store: other.store })
        assert.deepEqual(await statuses(app, 3), [200, 200, 429])
        await late.start()
        await eventually(() => other.isReady(), 'the client is connected')
        await recovers(app)
        // The store has counts of its own.
        await app.limiter.reset('127.0.0.1')
        assert.deepEqual(await statuses(app, 3), [200, 200, 429])
      } finally {
        other.end()
        await late.end()
      }
    })
  })
}

describe('redisStore in a cluster of Redis', { skip: withoutRedis }, () => {
  let server: RedisServer
  before(async () => {
    server = await (
      await RedisServer.make()
    ).start({
      'cluster-enabled': 'yes',
      'cluster-announce-ip': '127.0.0.1',
    })
    const client = new Redis({ port: server.port, host: '127.0.0.1' })
    await client.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    const deadline = Date.now() + 30_000
    while (!String(await client.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) {
      assert.ok(Date.now() < deadline, 'never: the cluster is ready')
      await sleep(5)
    }
    client.disconnect()
  })
  after(() => server.end())

  const passes = async (store: RateLimitStore): Promise<void> => {
    for (const keyGenerator of [undefined, () => 'all']) {
      const limiter = rateLimit({
        groupId: `c${++groups}`,
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
