/** The server that veloze-benchmarks asks of every framework, and its two variations. */
import { type AppOptions, before, cors, createApp } from 'volant'

export function veloze(options: AppOptions) {
  const app = createApp(options)

  app.get('/', () => ({ hello: 'world' }))
  // `PUT /foo` is 405 and `GET /foo/bar` is 404 without a word of ours.
  app.get('/:hello', (ctx) => ({ hello: ctx.params.hello }))
  app.post('/', (ctx) => ctx.json({ created: true }, 201))

  return app
}

/** `-with-middlewares`: six of them, each with the one thing that the package it is named after does. */
export function velozeWithMiddlewares(options: AppOptions) {
  const app = createApp(options)

  app.use(cors(), dnsPrefetchControl, frameguard, hidePoweredBy, hsts, xXssProtection)
  app.get('/', () => ({ hello: 'world' }))

  return app
}

const dnsPrefetchControl = before((ctx) => void ctx.header('x-dns-prefetch-control', 'off'))
const frameguard = before((ctx) => void ctx.header('x-frame-options', 'SAMEORIGIN'))
/** There is no X-Powered-By to hide; being asked is what the document measures. */
const hidePoweredBy = before(() => {})
const hsts = before(
  (ctx) => void ctx.header('strict-transport-security', 'max-age=15552000; includeSubDomains'),
)
const xXssProtection = before((ctx) => void ctx.header('x-xss-protection', '0'))

/** `-big-json`: 200 records, built for each request. */
export function velozeBigJson(options: AppOptions) {
  const app = createApp(options)

  app.get('/', () =>
    Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' })),
  )

  return app
}
