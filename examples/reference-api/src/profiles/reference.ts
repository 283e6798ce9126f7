/** The reference service: a small API over one database, watched over, with a page that shows it at work. */
import {
  type AppOptions,
  cors,
  createApp,
  health,
  logger,
  metrics,
  openapi,
  requestId,
  securityHeaders,
} from 'volant'
import { api } from '../api.ts'
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
  app.get('/metrics', { tags: ['health'], summary: 'Metrics, for Prometheus' }, meter.handler)
  app.get('/metrics.json', { tags: ['health'], summary: 'Metrics, as data' }, meter.snapshot)
  app.register(health, { checks: { database: database.ping }, details: '/api/health' })

  app.get('/', { hidden: true }, (ctx) => {
    ctx.header('content-security-policy', contentSecurityPolicy)
    ctx.html(page({ host: ctx.host, engine: app.adapterName, database: database.driver, token }))
  })

  app.implement(api.json, () => ({ message: 'Hello World' }))

  app.implement(api.bigJson, () =>
    Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' })),
  )

  app.implement(api.badge, (ctx) => {
    // Badges are made for the pages of others.
    ctx.header('cross-origin-resource-policy', 'cross-origin')
    return badge(ctx.params.label, ctx.params.value)
  })

  app.implement(api.memory, () => process.memoryUsage())

  app.register((scope) => {
    scope.use('/api', requestId(), logger(), cors())
    users(scope, { database, token })
  })

  app.expose(api)
  app.register(openapi, {
    info: { title: 'Volant reference service', version: '1.0.0' },
  })

  return app
}
