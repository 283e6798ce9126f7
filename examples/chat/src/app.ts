/** The app: one process by itself, or one of several that share a Redis. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type AppOptions, createApp, csp, health, securityHeaders } from 'volant'
import { memoryBus } from 'volant/bus'
import { redisBus, redisSessions } from 'volant/redis'
import { csrf, memorySessions } from 'volant/session'
import { accounts } from './accounts.ts'
import { redisAt, redisStore } from './redis-store.ts'
import { rooms } from './rooms.ts'
import { memoryStore } from './store.ts'

export interface Settings {
  /** The Redis that processes share, `redis://…`; without one a process is alone. */
  redis?: string | undefined
  /** The milliseconds after which processes tell each other who is there. Default 5,000. */
  heartbeat?: number | undefined
}

const fromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export async function chatOf({ redis: url, heartbeat = 5_000 }: Settings, options: AppOptions = {}) {
  const redis = url ? redisAt(url) : null
  const bus = redis === null ? memoryBus() : redisBus(redis)
  const store = redis === null ? memoryStore() : redisStore(redis)
  const sessionStore = redis === null ? memorySessions() : redisSessions(redis)

  const app = createApp({ bus, ...options })
  redis?.on('error', (error) => app.log.warn({ err: error }, 'Redis is away'))
  await redis?.connect()
  app.onClose(() => redis?.destroy())

  const folder = fromHere('../../page/public')
  const [, map = ''] = /importmap">(.*?)<\/script>/s.exec(readFileSync(`${folder}/index.html`, 'utf8')) ?? []
  const importMap = `'sha256-${createHash('sha256').update(map).digest('base64')}'` as const
  const policy = csp({ defaultSrc: ["'self'"], scriptSrc: ["'self'", importMap] })
  app.use(securityHeaders(), policy, csrf())
  app.register(health)

  const { members, session } = accounts(app, store, sessionStore, (id) => signedOut(id))
  const { signedOut, ...routes } = rooms(app, members, store, bus, heartbeat)
  const api = { session, rooms: routes }
  app.expose(api)

  app.static('/page', fromHere('../../page/dist'))
  app.static('/volant', fileURLToPath(new URL('..', import.meta.resolve('volant/client')))) // see importmap
  app.static('/', folder)
  return { app, api }
}

/** The page has the type of this, and none of its code. */
export type Api = Awaited<ReturnType<typeof chatOf>>['api']
