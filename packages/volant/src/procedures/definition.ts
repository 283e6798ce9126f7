/** Defines what a procedure is at run time. */
import type { DeclaredErrors, Schema } from '../types/parts.ts'
import type { CallContext } from './call-context.ts'
import type { Procedure, ProcedureInfo, ProcedureKind, RestOptions } from './types.ts'
import type { ErrorsByCode, Layer, Run } from '../types/request.ts'

export interface ProcedureDefinition {
  readonly kind: ProcedureKind
  readonly input: Schema | null
  readonly output: Schema | null
  /** True where the procedure returns nothing: `output(null)`. */
  readonly isEmpty: boolean
  readonly layers: readonly Layer<CallContext>[]
  /** The errors that `.errors()` declares. */
  readonly ownErrors: DeclaredErrors
  /** The `ownErrors` and the errors of the middleware, by code. */
  readonly errors: ErrorsByCode
  readonly info: ProcedureInfo
  readonly rest: RestOptions | false | null
  /**
   * Runs the middleware, the check of the input and the handler. Gives the value, or a promise of it: it is not checked
   * yet, and it may be an Error, which the caller throws.
   */
  readonly perform: Run<CallContext>
}

const definition = Symbol('definition')

/** The only class that implements `Procedure`. */
export class DefinedProcedure implements Procedure {
  readonly kind: ProcedureKind
  readonly [definition]: ProcedureDefinition

  constructor(what: ProcedureDefinition) {
    this.kind = what.kind
    this[definition] = what
  }
}

/** Gives the definition; undefined for a value that is not a procedure. */
export function definitionOf(value: unknown): ProcedureDefinition | undefined {
  return value instanceof DefinedProcedure ? value[definition] : undefined
}

/** Throws a value that is an Error, as routes do with a returned one. Other values are given back. */
export function unlessError(value: unknown): unknown {
  if (value instanceof Error) throw value
  return value
}
