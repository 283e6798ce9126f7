/** The service: its routes, over one database. */
import { createApp } from 'volant'
import { badge } from './badge.ts'
import type { Database } from './database.ts'
import { contentSecurityPolicy, page } from './page.ts'
import { addUserRoutes } from './users.ts'

export interface ServiceOptions {
  database: Database
  /** What `GET /api/users/:id` takes as bearer token. */
  token: string
}

export function createService({ database, token }: ServiceOptions) {
  const app = createApp()

  app.get('/', (ctx) => {
    ctx.header('content-security-policy', contentSecurityPolicy)
    ctx.html(
      page({
        host: ctx.headers.host ?? '',
        engine: app.adapterName,
        node: process.version,
        database: database.driver,
        uptime: process.uptime(),
      }),
    )
  })

  app.get('/json', () => ({ message: 'Hello World' }))

  app.get('/big-json', () =>
    Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' })),
  )

  app.get('/badge/:label/:value.svg', (ctx) => {
    ctx.header('content-type', 'image/svg+xml; charset=utf-8')
    return badge(ctx.params.label, ctx.params.value)
  })

  app.get('/health', () => ({ status: 'ok', uptime: process.uptime() }))

  app.get('/debug/memory', () => process.memoryUsage())

  addUserRoutes(app, database, token)
  return app
}
