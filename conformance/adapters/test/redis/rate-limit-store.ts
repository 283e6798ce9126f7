/** Stores of rate limits in a Redis server, through a client of each library. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { type App, createApp } from 'volant'
import { rateLimit, type RateLimiter, type RateLimitOptions, type RateLimitStore } from 'volant/rate-limit'
import { redisStore } from 'volant/redis'
import { eventually, RedisServer, type TestClock, withoutRedis } from '@volant/test-kit'

export const clients = {
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

/** Gives a name that no other limit of this process has. */
export function nextGroup(): string {
  return `g${++groups}`
}

export type Place = ReturnType<typeof place>

/** Registers cases with a client of each library, which are connected to a server of their own. */
export function onEachClient(cases: (place: Place) => void): void {
  for (const [name, connect] of Object.entries(clients)) {
    describe(`redisStore with a client of ${name}`, { skip: withoutRedis }, () => cases(place(connect)))
  }
}

function place(connect: (port: number) => ReturnType<typeof clients.redis>) {
  let server: RedisServer
  let client: ReturnType<typeof connect>

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
    const groupId = nextGroup()
    const app = createApp({
      signals: false,
      adapter: { type: 'node-http' },
      report: (error) => void reports.push(String(error)),
    })
    // A slow machine is no failing store here.
    const limiter = rateLimit({
      store: client.store,
      groupId,
      storeTimeout: 20_000,
      timeWindow: '1 hour',
      ...options,
    })
    app.use(limiter)
    app.get('/', () => 'x')
    return Object.assign(app, { limiter, group: groupId })
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
  /** Has the store rest until it is asked again. */
  const recovers = async (app: App & { limiter: RateLimiter }, clock: TestClock): Promise<void> => {
    assert.equal(app.limiter.stats().storeDown, true)
    await clock.advance(1_000)
    await app.inject('/')
    assert.equal(app.limiter.stats().storeDown, false)
  }

  return {
    get server() {
      return server
    },
    get client() {
      return client
    },
    connect,
    send: (...command: string[]): Promise<unknown> => client.send(command),
    reports,
    build,
    statuses,
    tally,
    recovers,
  }
}
