export { type Caller, caller, type CallerOptions } from './caller.ts'
export { procedure } from './procedure.ts'
export type { RestAPI } from './rest/api-types.ts'
export { rest, type RestPlugin, type RestPluginOptions } from './rest/plugin.ts'
export { router } from './router.ts'
export { tracked } from './tracked.ts'
export type {
  AnyProcedureBuilder,
  ProcedureCall,
  LayerContext,
  Procedure,
  ProcedureBuilder,
  ProcedureContext,
  ProcedureInfo,
  ProcedureKind,
  ProcedureTree,
  RestOptions,
  Router,
  Tracked,
  TrackedEvent,
} from './types.ts'
