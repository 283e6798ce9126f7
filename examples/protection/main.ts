/** Guards: who is answered, how much at once, how long it may take, and how long replies are kept. */
import { createApp, health, securityHeaders } from 'volant'
import {
  allowedHosts,
  cacheControl,
  cspReport,
  httpsRedirect,
  ipRestriction,
  serverTiming,
  timeout,
  tooBusy,
  trailingSlash,
} from 'volant/middleware'

export const app = createApp({ trustProxy: 'loopback' })
const hosts = ['shop.example', '*.shop.example', 'localhost']

app.use(
  securityHeaders({
    contentSecurityPolicy: { defaultSrc: ["'self'"], reportUri: ['/csp-reports'] },
  }),
)

const busy = tooBusy({ maxEventLoopDelay: Number(process.env.MAX_DELAY ?? 200), maxInFlight: 1_000 })
app.use(busy)
app.use(allowedHosts(hosts))
app.use(httpsRedirect({ allowedHosts: hosts }))
app.use(timeout(5_000))
app.use(trailingSlash('remove'))
app.register(health)
app.register(cspReport)

const pages = app
  .with(cacheControl({ public: true, maxAge: 60, staleWhileRevalidate: 600 }))
  .with(serverTiming())
pages.get('/books', ({ state: { timing } }) => timing.time('db', async () => ['Emma', 'Persuasion']))

app.group('/admin', (admin) => {
  admin.use(ipRestriction({ allow: ['private', 'loopback'] }))
  admin.use(cacheControl({ noStore: true }))
  admin.get('/load', () => busy.stats())
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
