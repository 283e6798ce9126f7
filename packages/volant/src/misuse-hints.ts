/** Functions people forget to call, or use where a middleware belongs. */
import { before, middleware, notItself } from './dispatch/declare.ts'
import { cors } from './middleware/cors.ts'
import { csp } from './middleware/csp.ts'
import { logger } from './middleware/logger.ts'
import { requestId } from './middleware/request-id.ts'
import { securityHeaders } from './middleware/security-headers.ts'
import { health } from './plugins/health.ts'
import { metrics } from './plugins/metrics.ts'
import { openapi } from './plugins/openapi.ts'
import { validate } from './request/validation.ts'

for (const make of [cors, logger, metrics, requestId, securityHeaders])
  notItself(make, `app.use(${make.name}())`)
notItself(csp, 'app.use(csp({ … }))')
notItself(validate, 'validate({ body: schema })')
notItself(middleware, 'middleware((ctx, next) => …)')
notItself(before, 'before((ctx) => …)')
notItself(health, 'app.register(health)')
notItself(openapi, 'app.register(openapi, { info: { title, version } })')
