/** Stores of sessions in a Redis server, through a client of each library, and an app that signs people in. */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
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

export const reports: string[] = []

export function build(store: SessionStore, options: Partial<SessionOptions> = {}): App {
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

export async function ask(app: App, method: 'GET' | 'POST', url: string, cookie = '') {
  const reply = await app.inject({ method, url, headers: cookie === '' ? {} : { cookie } })
  const set = reply.headers['set-cookie']
  return { ...reply, status: reply.status, text: reply.text(), cookie: String(set ?? '').split(';')[0] ?? '' }
}

export async function signIn(app: App): Promise<string> {
  const { status, cookie } = await ask(app, 'POST', '/in')
  assert.equal(status, 200)
  return cookie
}

export type Place = ReturnType<typeof place>

/** Registers cases with a client of each library, which are connected to a server of their own. */
export function onEachClient(cases: (place: Place) => void): void {
  for (const [name, connect] of Object.entries(clients)) {
    describe(`redisSessions with a client of ${name}`, { skip: withoutRedis }, () => cases(place(connect)))
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

  return {
    get server() {
      return server
    },
    get client() {
      return client
    },
    connect,
    send: (...command: string[]): Promise<unknown> => client.send(command),
  }
}
