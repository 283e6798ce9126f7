/** The reference service: a small API over one database, watched over, with a page that shows it at work. */
import { type AppOptions, cors, createApp, health, logger, metrics, requestId, securityHeaders } from 'volant'
import { badge } from '../badge.ts'
import { openDatabase } from '../database.ts'
import { contentSecurityPolicy, page } from '../page.ts'
import { users } from '../users.ts'

export interface ReferenceSettings {
  /** The SQLite file. */
  database: string
  /** What `GET /api/users/:id` takes as bearer token. */
  token: string
}

export function reference(options: AppOptions, { database: file, token }: ReferenceSettings) {
  const database = openDatabase(file)
  const app = createApp(options)
  app.onClose(database.close)

  const meter = metrics()
  app.use(meter, securityHeaders())
  app.get('/metrics', meter.handler)
  app.get('/metrics.json', meter.snapshot)
  app.register(health, { checks: { database: database.ping }, details: '/api/health' })

  app.get('/', (ctx) => {
    ctx.header('content-security-policy', contentSecurityPolicy)
    ctx.html(page({ host: ctx.host, engine: app.adapterName, database: database.driver, token }))
  })

  app.get('/json', () => ({ message: 'Hello World' }))

  app.get('/big-json', () =>
    Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' })),
  )

  app.get('/badge/:label/:value.svg', (ctx) => {
    // Badges are made for the pages of others.
    ctx.header('cross-origin-resource-policy', 'cross-origin')
    ctx.header('content-type', 'image/svg+xml; charset=utf-8')
    return badge(ctx.params.label, ctx.params.value)
  })

  app.get('/debug/memory', () => process.memoryUsage())

  app.group('/api', (api) => {
    api.use(requestId(), logger(), cors())
    api.register(users, { database, token })
  })

  return app
}
