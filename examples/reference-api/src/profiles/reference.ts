/** The reference service: a small API over one database, watched over, with a page that shows it at work. */
import { fileURLToPath } from 'node:url'
import { type AppOptions, createApp, health, openapi } from 'volant'
import { cacheControl } from 'volant/middleware'
import { api } from '../api.ts'
import { badge } from '../badge.ts'
import { databaseOf } from '../database.ts'
import { live } from '../live.ts'
import { contentSecurityPolicy, page } from '../page.ts'
import { production } from '../production.ts'
import { openSqlite } from '../sqlite.ts'
import { users } from '../users.ts'

export interface ReferenceSettings {
  /** The SQLite file. */
  readonly database: string
  /** The bearer token: of `GET /api/users/:id`, and of whatever is not public. */
  readonly token: string
  /** How many requests an address may send in a minute. Default 600 to add a user, and all it wants to read. */
  readonly rateLimit?: number | undefined
  /** Metrics, memory and uptime are for everybody; default for the token. */
  readonly publicFigures?: boolean
  /** The page at `/live` has a button that replaces all workers, if there are any. Default: it has none. */
  readonly canRestart?: boolean
  /** The page at `/`, the API's reference and document, and `/client.json` are for everybody; default for the token. */
  readonly publicDocs?: boolean
  /** The names under which clients know the service. Default: all. */
  readonly hosts?: readonly string[]
  /** The milliseconds by which timers may come late before requests are refused; default 200, and below 10,000. */
  readonly maxEventLoopDelay?: number | undefined
}

/** Paths, each with what is below it. */
const figures = ['/live', '/metrics', '/metrics.json', '/api/health', '/debug/memory']
const docs = ['/docs', '/openapi.json', '/openapi.yaml', '/client.json']

export function reference(
  options: AppOptions,
  {
    database: file,
    token,
    rateLimit = 600,
    publicFigures = false,
    publicDocs = false,
    canRestart = false,
    hosts = [],
    maxEventLoopDelay,
  }: ReferenceSettings,
) {
  const database = databaseOf(openSqlite(file))
  const app = createApp(options)
  app.onClose(database.close)

  const { meter, guard } = production(app, { token, hosts, maxEventLoopDelay })
  const guarded = [...(publicFigures ? [] : figures), ...(publicDocs ? [] : docs)]
  // What only the owner of the token may see is kept by nobody.
  const notKept = cacheControl({ noStore: true })
  for (const path of guarded) app.use(path, guard, notKept)
  app.get('/metrics', { tags: ['health'], summary: 'Metrics, for Prometheus' }, meter.handler)
  app.get('/metrics.json', { tags: ['health'], summary: 'Metrics, as data' }, meter.snapshot)
  live(app, meter, canRestart)
  app.register(health, { checks: { database: database.ping }, details: '/api/health' })

  app.register((scope) => {
    if (!publicDocs) scope.use(guard, notKept)
    const folder = fileURLToPath(new URL('../../../page', import.meta.url))
    scope.static('/page', folder, publicDocs ? {} : { cacheControl: false })
    scope.get('/', { hidden: true }, (ctx) => {
      ctx.header('content-security-policy', contentSecurityPolicy)
      const { driver } = database
      ctx.html(page({ host: ctx.host, engine: app.adapterName, database: driver, token, publicFigures }))
    })
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

  users(app, { database, token, mostAdded: rateLimit })

  app.expose(api)
  app.register(openapi, {
    info: { title: 'Volant reference service', version: '1.0.0', description },
    tags: [
      { name: 'users', 'x-displayName': 'Users', description: 'Kept in SQLite: listed, read and added.' },
      {
        name: 'plain',
        'x-displayName': 'Plain replies',
        description: 'Made by a handler, without a database.',
      },
      {
        name: 'health',
        'x-displayName': 'Monitoring',
        description: 'For load balancers, Prometheus and people on call.',
      },
    ],
  })

  return app
}

/** The first thing one reads at `/docs`. */
const description = `A small API over one SQLite database, written to be copied.

- [\`GET /api/users\`](#tag/users/GET/api/users) is a good first request: it needs no token.
- \`GET /api/users/{id}\` takes a bearer token. Choose *bearer* under Authentication and enter the service’s
  \`API_TOKEN\`; in development it is \`valid-token\`.
- An error is a problem document (RFC 9457): \`status\`, \`title\` and \`detail\` for people, \`code\` for programs.
- [The page at /](/) has a button for every route, and in development figures of the running process.`
