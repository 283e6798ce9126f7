export { trpc } from './plugin.ts'
export type { TRPCOptions, Transformer } from './options.ts'
export type { ErrorShape, TRPCErrorData } from './error-shape.ts'
export type { TRPCRouterOf } from './router-type.ts'
