/** `procedure()` gives a builder. Each step is checked at once and gives a new builder. */
import { compile, isLayered } from '../dispatch/chain.ts'
import { checkErrors } from '../contract/contract-options.ts'
import { errorsOf } from '../contract/declared-errors.ts'
import { VolantError } from '../errors/errors.ts'
import { metadataOf, gateOf, usageOf } from '../dispatch/declare.ts'
import { isThenable } from '../types/thenable.ts'
import { checkChoice, checkInteger, checkNames, checkText } from '../options/checks.ts'
import { refuseCodecsEarly } from '../schema/refuse-parts.ts'
import { standardOf } from '../schema/standard.ts'
import { asFunction } from '../app/given-functions.ts'
import type { DeclaredErrors, Schema } from '../types/parts.ts'
import { inputGate } from '../request/validation.ts'
import type { CallContext } from './call-context.ts'
import { DefinedProcedure, type ProcedureDefinition } from './definition.ts'
import type {
  AnyProcedureBuilder,
  ProcedureCall,
  Procedure,
  ProcedureInfo,
  ProcedureKind,
  RestOptions,
} from './types.ts'
import type { Layer, Run } from '../types/request.ts'

/** Gives a builder without input, output, middleware and errors: `procedure().query(() => 'pong')`. */
export function procedure(): AnyProcedureBuilder {
  return new Builder(blank) as unknown as AnyProcedureBuilder
}

/** The results of the steps of a builder. */
type Steps = Omit<ProcedureDefinition, 'kind' | 'perform' | 'errors'>

const blank: Steps = {
  input: null,
  output: null,
  isEmpty: false,
  layers: [],
  ownErrors: {},
  info: {},
  rest: null,
}

class Builder {
  readonly #steps: Steps

  constructor(steps: Steps) {
    this.#steps = steps
  }

  input(schema: Schema): Builder {
    if (this.#steps.input !== null) throw twice('input')
    standardOf(schema, "a procedure's input")
    return this.#with({ input: schema })
  }

  output(schema: Schema | null): Builder {
    if (this.#steps.output !== null || this.#steps.isEmpty) throw twice('output')
    if (schema === null) return this.#with({ isEmpty: true })
    standardOf(schema, "a procedure's output", 'response')
    refuseCodecsEarly(schema, "a procedure's output")
    return this.#with({ output: schema })
  }

  use(middleware: unknown): Builder {
    const layer = asFunction(middleware, 'middleware') as Layer<CallContext>
    const usage = usageOf(layer)
    if (usage !== undefined) {
      throw new VolantError(
        'E_BAD_HANDLER',
        `${layer.name} is not a middleware but makes one: write ${usage}`,
      )
    }
    const { onResponse, onSend, exposes, beforeBody, isOfRequest } = metadataOf(layer)
    if (isOfRequest === true) {
      throw badStep(
        'a guard of volant/middleware belongs to an app or a scope, app.use(middleware), because it concerns a request as a whole, which may call several procedures',
      )
    }
    const isLimit = exposes !== undefined && beforeBody !== true
    if (onResponse !== undefined || onSend !== undefined || isLimit) {
      throw badStep(
        'a middleware with onResponse or onSend, or a rate limit, belongs to an app or a scope, app.use(middleware), because several calls of a procedure may share one reply',
      )
    }
    return this.#with({ layers: [...this.#steps.layers, layer] })
  }

  errors(errors: DeclaredErrors): Builder {
    return this.#with({ ownErrors: { ...this.#steps.ownErrors, ...checkErrors('a procedure', errors) } })
  }

  meta(info: ProcedureInfo): Builder {
    checkNames('meta', info, ['summary', 'description', 'tags', 'deprecated'])
    return this.#with({ info: { ...this.#steps.info, ...info } })
  }

  rest(options: RestOptions | false): Builder {
    if (options !== false) checkRestOptions(options)
    return this.#with({ rest: options })
  }

  query(handler: unknown): Procedure {
    return this.#finish('query', handler)
  }

  mutation(handler: unknown): Procedure {
    return this.#finish('mutation', handler)
  }

  subscription(handler: unknown): Procedure {
    return this.#finish('subscription', handler)
  }

  #with(change: Partial<Steps>): Builder {
    return new Builder({ ...this.#steps, ...change })
  }

  #finish(kind: ProcedureKind, handler: unknown): Procedure {
    const steps = this.#steps
    if (kind === 'subscription' && steps.rest) {
      throw badStep('a subscription has no REST route: leave rest() out')
    }
    if (steps.isEmpty) checkEmpty(kind, steps.rest)
    const run = asFunction(handler, `the handler of a ${kind}`) as (
      call: ProcedureCall<unknown, unknown, {}>,
    ) => unknown
    const { input, layers } = steps
    return new DefinedProcedure({
      ...steps,
      kind,
      errors: errorsOf('a procedure', layers.map(metadataOf), steps.ownErrors),
      perform:
        input === null
          ? compilePerform(layers, (ctx) => run({ input: undefined, ctx, path: ctx.procedurePath }))
          : compilePerform([...layers, gateOf(inputGate(input)) as unknown as Layer<CallContext>], (ctx) =>
              run({ input: ctx.input, ctx, path: ctx.procedurePath }),
            ),
    })
  }
}

function compilePerform(layers: readonly Layer<CallContext>[], handler: Run<CallContext>): Run<CallContext> {
  const run = compile(layers, handler)
  if (!isLayered(layers)) return run
  return (ctx) => {
    const value = run(ctx)
    return isThenable(value) ? value.then((given) => ctx.outcome(given)) : ctx.outcome(value)
  }
}

function checkEmpty(kind: ProcedureKind, rest: RestOptions | false | null): void {
  if (kind === 'subscription') {
    throw badStep('output(null) is not for subscriptions: give the schema of an event, or leave output() out')
  }
  const status = rest === null || rest === false ? undefined : rest.status
  if (status !== undefined && status !== 204) {
    throw badStep(`output(null) replies 204 over REST, not ${status}: leave the status of rest() out`)
  }
}

const restMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']

function checkRestOptions(options: RestOptions): void {
  checkNames('rest', options, ['method', 'path', 'status'])
  const { method, path, status } = options
  if (method !== undefined) checkChoice('rest.method', method, restMethods)
  if (path !== undefined) checkText('rest.path', path, /^\//, 'a path such as /users/:id')
  if (status !== undefined) checkInteger('rest.status', status, [200, 299], 'a status from 200 to 299')
}

function twice(step: string): VolantError {
  return badStep(
    `a procedure has one ${step} schema, and this one was given a second: extend the first schema instead`,
  )
}

function badStep(what: string): VolantError {
  return new VolantError('E_BAD_OPTION', what)
}
