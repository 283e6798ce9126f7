/** `procedure()`: a builder whose every step is checked when it is taken, and gives a builder of its own. */
import type { Layer } from '../dispatch/chain.ts'
import { checkErrors } from '../contract/contract-options.ts'
import { errorsOf } from '../contract/declared-errors.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { metadataOf, usageOf } from '../dispatch/declare.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { refuseCodecsEarly } from '../schema/codecs.ts'
import { standardOf } from '../schema/standard.ts'
import { asFunction } from '../app/scope.ts'
import type { DeclaredErrors, Schema } from '../types/parts.ts'
import { type CallLayer, DefinedProcedure, type Definition, type Perform } from './definition.ts'
import { checkInput } from './check.ts'
import { compilePerform } from './perform.ts'
import type { AnyProcedureBuilder, Procedure, ProcedureInfo, ProcedureKind, RestOptions } from './types.ts'

/** A builder without input, output, middleware and errors: `procedure().query(() => 'pong')`. */
export function procedure(): AnyProcedureBuilder {
  return new Builder(blank) as unknown as AnyProcedureBuilder
}

type Draft = Omit<Definition, 'kind' | 'perform' | 'errors'>

const blank: Draft = {
  input: null,
  output: null,
  isEmpty: false,
  layers: [],
  ownErrors: {},
  security: [],
  info: {},
  rest: null,
}

class Builder {
  readonly #draft: Draft

  constructor(draft: Draft) {
    this.#draft = draft
  }

  input(schema: Schema): Builder {
    if (this.#draft.input !== null) throw twice('input')
    standardOf(schema, "a procedure's input")
    return this.#with({ input: schema })
  }

  output(schema: Schema | null): Builder {
    if (this.#draft.output !== null || this.#draft.isEmpty) throw twice('output')
    if (schema === null) return this.#with({ isEmpty: true })
    standardOf(schema, "a procedure's output", 'response')
    refuseCodecsEarly(schema, "a procedure's output")
    return this.#with({ output: schema })
  }

  use(middleware: unknown): Builder {
    const layer = asFunction(middleware, 'middleware') as CallLayer
    const usage = usageOf(layer)
    if (usage !== undefined) {
      throw new VolantError('E_BAD_HANDLER', `${layer.name} is no middleware by itself: write ${usage}`)
    }
    const { security, onResponse } = metadataOf(layer)
    if (onResponse !== undefined) {
      throw new VolantError(
        'E_BAD_OPTION',
        'a middleware that is told of replies belongs to an app or a scope, app.use(middleware): several calls of a procedure may share one reply',
      )
    }
    return this.#with({
      layers: [...this.#draft.layers, layer],
      security: security === undefined ? this.#draft.security : [...this.#draft.security, security],
    })
  }

  errors(errors: DeclaredErrors): Builder {
    return this.#with({ ownErrors: { ...this.#draft.ownErrors, ...checkErrors('a procedure', errors) } })
  }

  meta(info: ProcedureInfo): Builder {
    checkOptionNames('meta', asObject('meta', info), ['summary', 'description', 'tags', 'deprecated'])
    return this.#with({ info: { ...this.#draft.info, ...info } })
  }

  rest(options: RestOptions | false): Builder {
    if (options !== false) checkRest(options)
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

  #with(change: Partial<Draft>): Builder {
    return new Builder({ ...this.#draft, ...change })
  }

  #finish(kind: ProcedureKind, handler: unknown): Procedure {
    const draft = this.#draft
    if (kind === 'subscription' && draft.rest) {
      throw new VolantError('E_BAD_OPTION', 'a subscription is not reached over REST: leave rest() out')
    }
    if (draft.isEmpty) checkEmpty(kind, draft.rest)
    const run = asFunction(handler, `the handler of a ${kind}`) as Perform
    return new DefinedProcedure({
      ...draft,
      kind,
      errors: errorsOf('a procedure', draft.layers as Layer[], draft.ownErrors),
      perform: compilePerform(
        draft.layers,
        draft.input === null ? noInput(run) : checkInput(draft.input, run),
      ),
    })
  }
}

/** What nobody checks does not reach the handler, whichever way it came. */
function noInput(run: Perform): Perform {
  return (call) => {
    call.input = undefined
    return run(call)
  }
}

function checkEmpty(kind: ProcedureKind, rest: RestOptions | false | null): void {
  if (kind === 'subscription') {
    throw new VolantError('E_BAD_OPTION', 'the output of a subscription is that of its events, not null')
  }
  const status = rest === null || rest === false ? undefined : rest.status
  if (status !== undefined && status !== 204) {
    throw new VolantError(
      'E_BAD_OPTION',
      `output(null) is 204 over REST, not ${status}: leave the status of rest() out`,
    )
  }
}

const restMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']

function checkRest(options: RestOptions): void {
  checkOptionNames('rest', asObject('rest', options), ['method', 'path', 'status'])
  const { method, path, status } = options
  if (method !== undefined && !restMethods.includes(method)) {
    throw bad('rest.method', method, `one of ${restMethods.join(', ')}`)
  }
  if (path !== undefined && (typeof path !== 'string' || !path.startsWith('/'))) {
    throw bad('rest.path', path, 'a path such as /users/:id')
  }
  if (status !== undefined && (!Number.isInteger(status) || status < 200 || status > 299)) {
    throw bad('rest.status', status, 'a status from 200 to 299')
  }
}

function asObject(name: string, value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw bad(name, value, 'an object')
}

function twice(step: string): VolantError {
  return new VolantError(
    'E_BAD_OPTION',
    `a procedure has one ${step} schema, and this one was given a second: extend the first one instead`,
  )
}
