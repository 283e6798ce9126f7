import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { type App, createApp } from 'volant'
import { redisSessions } from 'volant/redis'
import { session, type SessionOptions, type SessionStore } from 'volant/session'
import { eventually, RedisServer, withoutRedis } from '@volant/test-kit'

const clients = {
  redis: (port: number) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: 10 } })
    client.connect().catch(() => {})
    return {
      store: redisSessions(client),
      isReady: () => client.isReady,
      send: (command: string[]): Promise<unknown> => client.sendCommand(command),
      end: () => client.destroy(),
    }
  },
  ioredis: (port: number) => {
    const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 10 })
    return {
      store: redisSessions(client),
      isReady: () => client.status === 'ready',
      send: ([name = '', ...values]: string[]): Promise<unknown> => client.call(name, values),
      end: () => client.disconnect(),
    }
  },
}

const reports: string[] = []

function build(store: SessionStore, options: Partial<SessionOptions> = {}): App {
  const app = createApp({
    signals: false,
    adapter: { type: 'node-http' },
    report: (error) => void reports.push(String(error)),
  })
  // A slow machine is no failing store here.
  const scope = app.with(session<Record<string, number>>({ store, storeTimeout: 20_000, ...options }))
  scope.post('/set/:key', (ctx) => {
    ctx.state.session.set(ctx.params.key, 1)
    return 'set'
  })
  scope.post('/in', (ctx) => {
    ctx.state.session.signIn({ in: 1 })
    return 'in'
  })
  scope.post('/out', (ctx) => {
    ctx.state.session.signOut()
    return 'out'
  })
  scope.get('/count', (ctx) => {
    let count = 0
    while (ctx.state.session.get(`k${count}`) === 1) count++
    return String(count)
  })
  scope.get('/in', (ctx) => String(ctx.state.session.get('in') ?? 0))
  return app
}

async function ask(app: App, method: 'GET' | 'POST', url: string, cookie = '') {
  const reply = await app.inject({ method, url, headers: cookie === '' ? {} : { cookie } })
  const set = reply.headers['set-cookie']
  return { ...reply, status: reply.status, text: reply.text(), cookie: String(set ?? '').split(';')[0] ?? '' }
}

/** Asks again until the answer is yes. */
async function until(asks: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await asks())) {
    assert.ok(Date.now() < deadline, `never: ${what}`)
    await sleep(20)
  }
}

async function signIn(app: App): Promise<string> {
  const { status, cookie } = await ask(app, 'POST', '/in')
  assert.equal(status, 200)
  return cookie
}

for (const [name, connect] of Object.entries(clients)) {
  describe(`redisSessions with a client of ${name}`, { skip: withoutRedis }, () => {
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

    test('a session is there for every process, under a digest, for as long as it lasts', async () => {
      const cookie = await signIn(build(client.store))
      assert.equal((await ask(build(client.store), 'GET', '/in', cookie)).text, '1')
      const keys = (await send('KEYS', '*')) as string[]
      assert.equal(keys.length, 1)
      assert.match(String(keys[0]), /^volant-session:[\w-]{43}$/)
      const [, secret = ''] = cookie.split('=')
      assert.ok(!String(keys[0]).includes(secret))
      const left = Number(await send('PTTL', String(keys[0])))
      assert.ok(left > 1_700_000 && left <= 1_800_000, String(left))
      assert.equal((await ask(build(client.store), 'POST', '/out', cookie)).status, 200)
      assert.equal((await send('DBSIZE')) as number, 0)
    })

    test('two clients that write one session lose none of its keys', async () => {
      const other = connect(server.port)
      try {
        await eventually(() => other.isReady(), 'the client is connected')
        const apps = [build(client.store), build(other.store)] as const
        const cookie = await signIn(apps[0])
        const replies = await Promise.all(
          Array.from({ length: 100 }, (_, at) => ask(apps[at % 2] as App, 'POST', `/set/k${at}`, cookie)),
        )
        assert.ok(replies.every(({ status }) => status === 200))
        assert.equal((await ask(apps[1], 'GET', '/count', cookie)).text, '100')
      } finally {
        other.end()
      }
    })

    test('versions, and a touch', async () => {
      const { store } = client
      const record = (version: number, ttl = 60_000) => ({ value: `v ${version}\n"ü`, version, ttl })
      assert.equal(await store.get('a'), null)
      assert.equal(await store.set('a', record(2)), false)
      assert.equal(await store.set('a', record(1)), true)
      assert.equal(await store.set('a', record(1)), false)
      assert.equal(await store.set('a', record(2)), true)
      assert.equal((await store.get('a'))?.value, 'v 2\n"ü')
      await store.touch('a', 120_000)
      assert.ok(((await store.get('a'))?.ttl ?? 0) > 100_000)
      await store.touch('b', 1_000)
      assert.equal(await store.get('b'), null)
      await store.set('c', record(1, 20))
      await until(async () => (await store.get('c')) === null, 'the session expires')
      await store.destroy('a')
      assert.equal(await store.get('a'), null)
    })

    test('after SCRIPT FLUSH all is as before, and after FLUSHALL people sign in again', async () => {
      const app = build(client.store)
      const cookie = await signIn(app)
      await send('SCRIPT', 'FLUSH')
      assert.equal((await ask(app, 'GET', '/in', cookie)).text, '1')
      await send('FLUSHALL')
      const reply = await ask(app, 'GET', '/in', cookie)
      assert.deepEqual([reply.status, reply.text], [200, '0'])
      assert.equal((await ask(app, 'GET', '/in', await signIn(app))).text, '1')
    })

    test('errors of the server are 503, and reported once', async () => {
      const app = build(client.store)
      await send('FLUSHALL')
      const cookie = await signIn(app)
      const [key] = (await send('KEYS', '*')) as string[]
      await send('DEL', String(key))
      await send('RPUSH', String(key), 'no session')
      reports.length = 0
      for (let each = 0; each < 3; each++) {
        const reply = await ask(app, 'GET', '/in', cookie)
        assert.deepEqual([reply.status, reply.headers['retry-after']], [503, '1'])
      }
      assert.equal(reports.length, 1)
      assert.match(reports[0] as string, /the store of sessions fails \(.*WRONGTYPE/)
      await send('DEL', String(key))
      await send('SET', String(key), 'garbage')
      assert.equal((await ask(app, 'GET', '/in', cookie)).status, 503)
      await send('DEL', String(key))
    })

    test('a server that stops answering: 503 in time, and the store is left alone', async () => {
      const app = build(client.store, { storeTimeout: 50 })
      const cookie = await signIn(build(client.store))
      server.signal('SIGSTOP')
      try {
        const begun = performance.now()
        for (let each = 0; each < 200; each++) {
          assert.equal((await ask(app, 'GET', '/in', cookie)).status, 503)
          const written = await ask(app, 'POST', '/in')
          assert.deepEqual([written.status, written.cookie], [503, ''])
        }
        // Requests without the cookie that change nothing need no store.
        assert.equal((await ask(app, 'GET', '/in')).status, 200)
        assert.ok(performance.now() - begun < 20_000)
      } finally {
        server.signal('SIGCONT')
      }
      await until(
        async () => (await ask(app, 'GET', '/in', cookie)).status === 200,
        'the store answers again',
      )
      assert.equal((await ask(app, 'GET', '/in', cookie)).text, '1')
    })

    test('a server that dies under load, and comes back', async () => {
      const app = build(client.store, { storeTimeout: 1_000 })
      let answered = 0
      let unavailable = 0
      let stop = false
      const load = Array.from({ length: 8 }, async () => {
        let cookie = ''
        let kept = 0
        while (!stop) {
          const reply = await ask(app, 'POST', `/set/k${kept}`, cookie)
          assert.ok(reply.status === 200 || reply.status === 409 || reply.status === 503)
          answered++
          if (reply.status === 503) {
            unavailable++
            assert.equal(reply.cookie, '')
            await sleep(1)
          } else if (reply.status === 409) cookie = ''
          // A server without its data knows no session, so that another one begins.
          else if (reply.cookie !== '') [cookie, kept] = [reply.cookie, 0]
          else kept++
        }
        return cookie
      })
      await eventually(() => answered > 200, 'requests are answered')
      await server.kill()
      const before = unavailable
      await eventually(() => unavailable > before + 100, 'requests are answered without the store')
      await server.start()
      const after = answered - unavailable
      await eventually(() => answered - unavailable > after + 200, 'sessions are written again')
      stop = true
      for (const cookie of await Promise.all(load)) {
        assert.notEqual((await ask(app, 'GET', '/count', cookie)).status, 500)
      }
    })

    test('a server that is not there at the start', async () => {
      const late = await RedisServer.make()
      const other = connect(late.port)
      try {
        const app = build(other.store)
        const refused = await ask(app, 'POST', '/in')
        assert.deepEqual([refused.status, refused.cookie], [503, ''])
        await late.start()
        await eventually(() => other.isReady(), 'the client is connected')
        await until(async () => (await ask(app, 'POST', '/in')).status === 200, 'people sign in')
      } finally {
        other.end()
        await late.end()
      }
    })
  })
}

describe('redisSessions in a cluster of Redis', { skip: withoutRedis }, () => {
  let server: RedisServer
  before(async () => {
    server = await (
      await RedisServer.make()
    ).start({ 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' })
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
