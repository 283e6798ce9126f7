// The test compiles a copy of this file as CommonJS, too.
import { createApp } from 'volant'
import { anyOf, apiKey, authenticate, basic, bearer, requireRole, requireScope } from 'volant/auth'
import { compress } from 'volant/compress'
import { connectOf, fromConnect } from 'volant/connect'
import { debug } from 'volant/debug'
import { jwt } from 'volant/jwt'
import { log } from 'volant/log'
import { allowedHosts, cacheControl, cspReport, serverTiming, timeout, tooBusy } from 'volant/middleware'
import { rateLimit } from 'volant/rate-limit'
import { type RedisClient, redisStore } from 'volant/redis'
import { csrf, session } from 'volant/session'

export const counted = (client: RedisClient) =>
  rateLimit({ max: 10, store: redisStore(client), groupId: 'api' })

const app = createApp()
app.use(
  compress({ encodings: ['gzip'], threshold: 100 }),
  fromConnect((req, res, next) => {
    res.setHeader('x-seen', req.url ?? '')
    next()
  }),
)
app.get('/hello/:name', (ctx) => {
  const method: string | undefined = connectOf(ctx).req.method
  return method === 'GET' ? { hello: ctx.params.name } : null
})
// @ts-expect-error a coding that there is not
export const wrong = () => compress({ encodings: ['deflate'] })

const byToken = bearer({ verify: (token) => (token === 'a' ? { name: 'ada', scope: 'read' } : null) })
const byKey = apiKey({ in: 'header', name: 'x-api-key', keys: { shop: process.env['SHOP_KEY'] ?? 'key' } })
app
  .with(anyOf(byToken, byKey))
  .with(requireScope('read'))
  .get('/me', ({ state: { user, auth } }) => [typeof user === 'string' ? user : user.name, auth.scheme])
// @ts-expect-error the realm is missing
export const wrongBasic = () => basic({ users: { ada: 'x' } })

// A module for sign-in exports what it made, and the compiler writes down all types of that.
const key = 'only-for-a-test-of-32-bytes-or-more'
export const sessions = session<{ user: { name: string; roles: string[] } }>({ keys: [key] })
export const crossSite = csrf()
export const tokens = csrf({ token: true })
export const byBearer = bearer({ tokens: { ci: key } })
export const byPassword = basic({ realm: 'Staff', users: { ada: key } })
export const byHeader = apiKey({ in: 'header', name: 'x-api-key', verify: (given) => ({ name: given }) })
export const maybe = bearer({ token: key, required: false })
export const byJwt = jwt({
  secret: key,
  algorithms: ['HS256'],
  verify: ({ sub }: { sub: string }) => ({ name: sub }),
})
export const bySerial = authenticate({
  schemeName: 'certificate',
  security: { type: 'mutualTLS' },
  credentials: (ctx) => ctx.headers['x-client-serial'],
  verify: (serial: string) => ({ name: serial }),
  challenge: { scheme: 'Certificate' },
})
export const visitors = app.with(sessions).with(crossSite)
export const members = visitors.with(anyOf(byJwt, bySerial, byHeader, sessions.signedIn('user')))
export const clerks = members.with(requireRole('clerk'))
export const account = clerks.get('/account', (ctx) => ({
  name: ctx.state.user.name,
  id: ctx.state.session.id,
}))

app.static('/files', 'page', { maxAge: 60 })

app.post('/form', rateLimit({ max: 1 }), async (ctx) => {
  const { title, cover } = await ctx.form()
  // @ts-expect-error it may be a file, a list or absent
  void title.length
  return { title, cover: cover instanceof File ? cover.size : null }
})
app.post('/parts', { bodyMode: 'stream' }, async (ctx) => {
  const parts: Record<string, number> = {}
  for await (const part of ctx.parts({ maxFormParts: 5 })) parts[part.name] = (await part.bytes()).length
  return parts
})

app.use(tooBusy({ maxInFlight: 1_000 }), allowedHosts(['127.0.0.1', 'localhost']), timeout(10_000))
app.register(cspReport, { onReport: ({ blockedUrl }) => console.error(blockedUrl) })
app
  .with(serverTiming({ enabled: true }))
  .with(cacheControl({ maxAge: 60 }))
  .get('/timed', ({ state: { timing } }) => timing.time('work', () => 'done'))
// @ts-expect-error the hosts are missing
export const wrongHosts = () => allowedHosts()

app.register(debug, { prefix: '/ops', maxProfileSeconds: 5 })
app.get('/logged', (ctx) => {
  log.child({ module: 'orders' }).info({ path: ctx.path }, 'by storage')
  ctx.log.error(new Error('x'), 'failed')
  return ctx.log.isLevelEnabled('debug')
})

void app.listen(0).then(({ url }) => console.log(`${app.adapterName} ${url}`))
