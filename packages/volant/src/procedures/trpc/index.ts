export { trpc } from './plugin.ts'
export type { ResponseMetaCall, TRPCOptions, Transformer } from './options.ts'
export type { ErrorShape, RPCErrorDetail, RPCErrorName, TRPCErrorData } from './error-shape.ts'
export type { TRPCRouterOf } from './router-type.ts'
