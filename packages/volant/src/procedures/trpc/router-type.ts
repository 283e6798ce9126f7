/** The type of a router as tRPC's own packages know routers. Types alone: nothing of tRPC runs here. */
import type {
  TRPCBuiltRouter,
  TRPCMutationProcedure,
  TRPCQueryProcedure,
  TRPCSubscriptionProcedure,
} from '@trpc/server'
import type { Issue } from '../../errors/errors.ts'
import type { DeclaredErrors } from '../../types/parts.ts'
import type { ErrorData, Procedure, ProcedureTree, Router } from '../types.ts'
import type { ErrorShape } from './error-shape.ts'

/**
 * What clients are typed by: `export type AppRouter = TRPCRouterOf<typeof router>`, then
 * `createTRPCClient<AppRouter>(…)`, `inferRouterOutputs<AppRouter>` and the like. `Transformed` is true where the door
 * has a transformer: outputs are then typed as they are, else as they come out of JSON.
 */
export type TRPCRouterOf<R extends Router, Transformed extends boolean = false> =
  R extends Router<infer T>
    ? TRPCBuiltRouter<
        { ctx: object; meta: object; errorShape: ErrorShape; transformer: Transformed },
        RecordOf<T>
      >
    : never

type RecordOf<T extends ProcedureTree> = {
  [K in keyof T]: T[K] extends Router<infer U>
    ? RecordOf<U>
    : T[K] extends Procedure<infer Kind, infer I, infer O, infer E>
      ? {
          query: TRPCQueryProcedure<Def<I, O, E>>
          mutation: TRPCMutationProcedure<Def<I, O, E>>
          subscription: TRPCSubscriptionProcedure<Def<I, O, E>>
        }[Kind]
      : never
}

interface Def<I, O, E> {
  meta: unknown
  input: I
  output: O
  errorShape: ErrorShape<Detail<E>>
}

/** Of a declared error, or of an input its schema rejects. */
type Detail<E> =
  | { [C in keyof E & string]: { code: C; data: ErrorData<E[C]> } }[E extends DeclaredErrors
      ? keyof E & string
      : never]
  | { code: 'E_VALIDATION'; data?: undefined; errors: readonly Issue[] }
