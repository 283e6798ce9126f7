/** The app: what every request passes, and the parts of the shop. */
import { mkdir } from 'node:fs/promises'
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
import { compress } from 'volant/compress'
import { ipRestriction, tooBusy } from 'volant/middleware'
import { otel } from 'volant/otel'
import { csrf } from 'volant/session'
import { accounts } from './accounts.ts'
import { api } from './api.ts'
import { books } from './books.ts'
import { openDatabase } from './database.ts'
import { orders } from './orders.ts'
import type { Settings } from './settings.ts'
import { stock } from './stock.ts'

export async function shopOf(settings: Settings, options: AppOptions = {}) {
  const { covers, pageOrigin, proxies, maxEventLoopDelay, databaseTimeout } = settings
  const database = await openDatabase(settings.database, databaseTimeout)
  await mkdir(covers, { recursive: true })

  const app = createApp({ trustProxy: proxies, ...options })
  app.onClose(() => database.close())

  const meter = metrics()
  app.use(
    otel({ ignore: ['/health', '/ready', '/metrics'] }),
    requestId(),
    logger({ ignore: ['/health', '/ready'] }),
    meter,
    tooBusy({ ignore: ['/health', '/ready'], maxEventLoopDelay }),
    securityHeaders({ crossOriginResourcePolicy: 'cross-origin' }), // the page shows covers of this origin
    cors({ origin: [pageOrigin], credentials: true }),
    csrf({ origins: [pageOrigin] }),
    compress(),
  )
  app.register(health, {
    checks: { database: () => database.rows('SELECT 1 AS one') },
    timeout: databaseTimeout,
  })
  app.get('/metrics', { hidden: true }, ipRestriction({ allow: ['loopback', 'private'] }), meter.handler)
  app.static('/covers', covers, { immutable: true })

  const { members, clerks } = await accounts(app, database, settings)
  books(app, database)
  orders(members, database)
  stock(clerks, database, covers)

  app.expose(api)
  app.register(openapi, {
    info: {
      title: 'Bookshop',
      version: '1.0.0',
      description:
        'Anybody reads the list. Sign in to order; clerks add books. Programs send the token of `POST /api/session`.',
    },
    tags: [
      { name: 'books', description: 'The list, for everybody.' },
      { name: 'orders', description: 'What members buy.' },
      { name: 'session', description: 'Signing up, in and out.' },
      { name: 'stock', description: 'What clerks do.' },
    ],
  })
  return app
}
