/** Error messages for a function of this package that is passed without being called: they show how to write it. */
import { before, middleware, hintMisuse } from '../dispatch/declare.ts'
import { cors } from '../middleware/cors.ts'
import { csp } from '../middleware/csp.ts'
import { etag } from '../middleware/etag.ts'
import { logger } from '../middleware/logger.ts'
import { requestId } from '../middleware/request-id.ts'
import { securityHeaders } from '../middleware/security-headers.ts'
import { health } from '../plugins/health.ts'
import { metrics } from '../plugins/metrics.ts'
import { openapi } from '../plugins/openapi.ts'
import { validate } from '../middleware/validate.ts'

for (const make of [cors, etag, logger, metrics, requestId, securityHeaders])
  hintMisuse(make, `app.use(${make.name}())`)
hintMisuse(csp, 'app.use(csp({ … }))')
hintMisuse(validate, 'validate({ body: schema })')
hintMisuse(middleware, 'middleware((ctx, next) => …)')
hintMisuse(before, 'before((ctx) => …)')
hintMisuse(health, 'app.register(health)')
hintMisuse(openapi, 'app.register(openapi, { info: { title, version } })')
