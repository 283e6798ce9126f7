/** A service as the files beside this one run it: behind a proxy, in containers, on Kubernetes, under systemd. */
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from 'redis'
import { createApp, health } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { redisBus, redisSessions, redisStore } from 'volant/redis'
import { csrf, memorySessions, session } from 'volant/session'

const { HOST: host, PORT = '3000', REDIS_URL, REPLICA = hostname(), TRUST_PROXY = 'loopback' } = process.env
/** For how long requests wait for Redis, in ms; without it the defaults hold. */
const storeTimeout = process.env.STORE_TIMEOUT === undefined ? undefined : Number(process.env.STORE_TIMEOUT)

// Workers and replicas share what they have to share in Redis. Without REDIS_URL there must be one process.
const redis = REDIS_URL === undefined ? null : createClient({ url: REDIS_URL })
redis?.connect().catch(() => {}) // not awaited: the app starts and serves without Redis, too
const sessions = session<{ user: string; visits: number }>({
  store: redis === null ? memorySessions() : redisSessions(redis),
  storeTimeout,
})
const attempts = rateLimit({
  groupId: 'sign-in',
  max: 20,
  timeWindow: '15 minutes',
  algorithm: 'fixed',
  // While Redis is away, each of two replicas lets half as many pass.
  ...(redis === null ? {} : { store: redisStore(redis), storeTimeout, workers: 2 }),
})

export const app = createApp({
  trustProxy: TRUST_PROXY.split(','), // who may say whose requests these are
  bus: redis === null ? undefined : redisBus(redis),
})
app.onClose(() => redis?.destroy())

app.register(health) // /health and /ready, which do not ask for Redis: all replicas would fail at once

app.get('/', (ctx) => ({ ip: ctx.ip, protocol: ctx.protocol, host: ctx.host }))

const pages = app.with(sessions).with(csrf())
const name = { type: 'string', minLength: 1, maxLength: 40 } as const
const credentials = { type: 'object', properties: { name }, required: ['name'] } as const
pages.with(attempts).post('/sign-in', { body: credentials }, (ctx) => {
  ctx.state.session.signIn({ user: ctx.body.name, visits: 0 }) // a service would check a password before
  return { user: ctx.body.name, replica: REPLICA }
})

const members = pages.with(sessions.signedIn('user'))
members.post('/visits', (ctx) => {
  const visits = (ctx.state.session.get('visits') ?? 0) + 1
  ctx.state.session.set('visits', visits)
  return { user: ctx.state.user, visits, replica: REPLICA }
})

// What is published at one replica reaches the WebSockets of all of them by the bus.
app.ws('/news', { open: (ws) => ws.subscribe('news') })
members.post('/news', (ctx) => {
  app.publish('news', ctx.bodyText)
  return { published: true }
})

app.get('/prices', () => Array.from({ length: 200 }, (_, id) => ({ id, cents: id * 100 })))
app.get('/ticks', async function* (ctx) {
  ctx.header('content-type', 'text/plain; charset=utf-8')
  for (let tick = 0; !ctx.signal.aborted; tick++) {
    yield `tick ${tick}\n` // each arrives when it was written
    await wait(100)
  }
})
app.get('/events', (ctx) =>
  ctx.sse(async function* () {
    for (let id = 0; ; id++) {
      yield { id, event: 'tick', data: { id } }
      await wait(100, undefined, { signal: ctx.signal })
    }
  }),
)

export const { url } = await app.listen({ port: Number(PORT), host })
console.log(`Listening on ${url}`)
