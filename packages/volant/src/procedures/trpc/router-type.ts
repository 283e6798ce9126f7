/** Gives the type of a router for tRPC's own packages. Only types are imported from them. */
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
 * The type for tRPC's clients: `export type AppRouter = TRPCRouterOf<typeof router>`, then
 * `createTRPCClient<AppRouter>(…)`, `inferRouterOutputs<AppRouter>` and the like. `Transformed` is true where `trpc` has
 * a transformer: outputs then keep their types, and otherwise have the types that JSON leaves them.
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
          query: TRPCQueryProcedure<ProcedureTypes<I, O, E>>
          mutation: TRPCMutationProcedure<ProcedureTypes<I, O, E>>
          subscription: TRPCSubscriptionProcedure<ProcedureTypes<I, O, E>>
        }[Kind]
      : never
}

interface ProcedureTypes<I, O, E> {
  meta: unknown
  input: I
  output: O
  errorShape: ErrorShape<Detail<E>>
}

/** The detail of a declared error, or of an input that its schema rejects. */
type Detail<E> =
  | { [C in keyof E & string]: { code: C; data: ErrorData<E[C]> } }[E extends DeclaredErrors
      ? keyof E & string
      : never]
  | { code: 'E_VALIDATION'; data?: undefined; errors: readonly Issue[] }
