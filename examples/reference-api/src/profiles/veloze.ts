/** The server that veloze-benchmarks asks of every framework, and its two variations. */
import { createRequire } from 'node:module'
import { type AppOptions, createApp } from 'volant'
import { type ConnectMiddleware, fromConnect } from 'volant/connect'

export function veloze(options: AppOptions) {
  const app = createApp(options)

  app.get('/', () => ({ hello: 'world' }))
  // `PUT /foo` is 405 and `GET /foo/bar` is 404 without a word of ours.
  app.get('/:hello', (ctx) => ({ hello: ctx.params.hello }))
  app.post('/', (ctx) => ctx.json({ created: true }, 201))

  return app
}

const six = ['cors', 'dns-prefetch-control', 'frameguard', 'hide-powered-by', 'hsts', 'x-xss-protection']

/** `-with-middlewares`: the six packages for connect and Express that the document names. Other profiles load none. */
export function velozeWithMiddlewares(options: AppOptions) {
  const app = createApp(options)
  const require = createRequire(import.meta.url)

  app.use(fromConnect(...six.map((name) => (require(name) as () => ConnectMiddleware)())))
  app.get('/', () => ({ hello: 'world' }))

  return app
}

/** `-big-json`: 200 records, built for each request. */
export function velozeBigJson(options: AppOptions) {
  const app = createApp(options)

  app.get('/', () =>
    Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' })),
  )

  return app
}
