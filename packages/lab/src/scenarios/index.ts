/** Every scenario, by document, then ours. */
import type { Scenario } from '../scenario.ts'
import { middleware, param } from './additions.ts'
import { headerFields, postBodies, routes, shortLived, slowHandlers } from './lifecycle.ts'
import { nessenBadge, nessenHealth, nessenSoak } from './nessen.ts'
import { ramapiCreate } from './ramapi-create.ts'
import { ramapiJson } from './ramapi-json.ts'
import { ramapiStack } from './ramapi-stack.ts'
import { ramapiUser } from './ramapi-user.ts'
import { curve, highest, overload } from './under-load.ts'
import { veloxtsLatency, veloxtsMemory, veloxtsStartup, veloxtsThroughput } from './veloxts.ts'
import { velozeBasic, velozeRecords, velozeStartup } from './veloze.ts'
import { zapjsDynamic, zapjsMixed, zapjsStatic, zapjsSweep } from './zapjs.ts'

export const scenarios: readonly Scenario[] = [
  ramapiJson,
  ramapiStack,
  ramapiUser,
  ramapiCreate,
  velozeBasic,
  velozeRecords,
  velozeStartup,
  zapjsStatic,
  zapjsDynamic,
  zapjsMixed,
  zapjsSweep,
  nessenHealth,
  nessenBadge,
  nessenSoak,
  veloxtsThroughput,
  veloxtsLatency,
  veloxtsMemory,
  veloxtsStartup,
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
]
