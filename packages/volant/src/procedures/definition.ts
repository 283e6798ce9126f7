/** What a procedure is at run time. */
import type { RequestContext } from '../types/context.ts'
import type { ErrorsByCode } from '../contract/declared-errors.ts'
import type { Declaration } from '../dispatch/declare.ts'
import type { DeclaredErrors, Schema } from '../types/parts.ts'
import type { CallContext } from './call-context.ts'
import type { Procedure, ProcedureInfo, ProcedureKind, RestOptions } from './types.ts'

/** A middleware as the framework calls it. */
export type CallLayer = (ctx: RequestContext, next: () => Promise<void>) => unknown

/** A call on its way through the middleware; the handler is given it as it is. */
export class CallState {
  input: unknown
  readonly ctx: CallContext
  readonly path: string
  /** Which part of the request a member of the input came from, for messages; null where the input is one value. */
  partOf: ((member: string | undefined) => string) | null = null

  constructor(input: unknown, ctx: CallContext, path: string) {
    this.input = input
    this.ctx = ctx
    this.path = path
  }
}

/** Gives what the procedure gives, or a promise of it. That may be an Error, which the caller throws. */
export type Perform = (call: CallState) => unknown

export interface Definition {
  readonly kind: ProcedureKind
  readonly input: Schema | null
  readonly output: Schema | null
  /** It gives nothing: `output(null)`. */
  readonly isEmpty: boolean
  readonly layers: readonly CallLayer[]
  /** Its own. */
  readonly ownErrors: DeclaredErrors
  /** Its own and those of its middleware, by code. */
  readonly errors: ErrorsByCode
  /** The schemes that its middleware enforce, outermost first. */
  readonly security: readonly NonNullable<Declaration['security']>[]
  readonly info: ProcedureInfo
  readonly rest: RestOptions | false | null
  /** Middleware, input and handler; what it gives is not checked yet. */
  readonly perform: Perform
}

const definition = Symbol('definition')

/** The one shape of a `Procedure`. */
export class DefinedProcedure implements Procedure {
  readonly kind: ProcedureKind
  readonly [definition]: Definition

  constructor(what: Definition) {
    this.kind = what.kind
    this[definition] = what
  }
}

/** Undefined for what is no procedure. */
export function definitionOf(value: unknown): Definition | undefined {
  return value instanceof DefinedProcedure ? value[definition] : undefined
}
