/** Every scenario, by document, then ours. One file each, named as the scenario; what several share has a file beside them. */
import type { Scenario } from '../scenario.ts'
import { accessLog } from './access-log.ts'
import { compression } from './compression.ts'
import { contractGet } from './contract-get.ts'
import { contractPost } from './contract-post.ts'
import { contractStartup } from './contract-startup.ts'
import { csrf } from './csrf.ts'
import { curve } from './curve.ts'
import { guards } from './guards.ts'
import { headerFields } from './headers.ts'
import { highest } from './highest.ts'
import { http2Json } from './http2-json.ts'
import { jwt } from './jwt.ts'
import { middleware } from './middleware.ts'
import { nessenBadge } from './nessen-badge.ts'
import { nessenHealth } from './nessen-health.ts'
import { nessenSoak } from './nessen-soak.ts'
import { nessenStack } from './nessen-stack.ts'
import { overload } from './overload.ts'
import { param } from './param.ts'
import { postBodies } from './post.ts'
import { ramapiCreate } from './ramapi-create.ts'
import { ramapiJson } from './ramapi-json.ts'
import { ramapiStack } from './ramapi-stack.ts'
import { ramapiUser } from './ramapi-user.ts'
import { rateLimit } from './rate-limit.ts'
import { requestIdCors } from './request-id-cors.ts'
import { routes } from './routes.ts'
import { sealedSession } from './sealed-session.ts'
import { securityHeaders } from './security-headers.ts'
import { shortLived } from './short-lived.ts'
import { signedCookie } from './signed-cookie.ts'
import { slowHandlers } from './slow.ts'
import { staticFile } from './static-file.ts'
import { tlsJson } from './tls-json.ts'
import { traced } from './traced.ts'
import { trpcQuery } from './trpc-query.ts'
import { upload } from './upload.ts'
import { veloxtsLatency } from './veloxts-latency.ts'
import { veloxtsMemory } from './veloxts-memory.ts'
import { veloxtsProcedures } from './veloxts-procedures.ts'
import { veloxtsStartup } from './veloxts-startup.ts'
import { veloxtsThroughput } from './veloxts-throughput.ts'
import { velozeBasic } from './veloze-basic.ts'
import { velozeMiddlewares } from './veloze-middlewares.ts'
import { velozeRecords } from './veloze-records.ts'
import { velozeStartup } from './veloze-startup.ts'
import { wsEcho } from './ws-echo.ts'
import { wsIdle } from './ws-idle.ts'
import { wsPublish } from './ws-publish.ts'
import { zapjsDynamic } from './zapjs-dynamic.ts'
import { zapjsMixed } from './zapjs-mixed.ts'
import { zapjsStatic } from './zapjs-static.ts'
import { zapjsSweep } from './zapjs-sweep.ts'

export const scenarios: readonly Scenario[] = [
  ramapiJson,
  ramapiStack,
  ramapiUser,
  ramapiCreate,
  velozeBasic,
  velozeMiddlewares,
  velozeRecords,
  velozeStartup,
  zapjsStatic,
  zapjsDynamic,
  zapjsMixed,
  zapjsSweep,
  nessenHealth,
  nessenBadge,
  nessenSoak,
  nessenStack,
  veloxtsThroughput,
  veloxtsLatency,
  veloxtsMemory,
  veloxtsStartup,
  veloxtsProcedures,
  shortLived,
  routes,
  postBodies,
  headerFields,
  slowHandlers,
  curve,
  highest,
  overload,
  param,
  middleware,
  rateLimit,
  compression,
  staticFile,
  upload,
  securityHeaders,
  requestIdCors,
  accessLog,
  sealedSession,
  signedCookie,
  jwt,
  traced,
  guards,
  csrf,
  wsEcho,
  wsPublish,
  wsIdle,
  tlsJson,
  http2Json,
  contractGet,
  contractPost,
  contractStartup,
  trpcQuery,
]
