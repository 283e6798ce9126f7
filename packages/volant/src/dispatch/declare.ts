/** Makes middleware of a function and its metadata: the state it adds, its errors, its security schemes and its hooks. */
import type { Context, ContextOf } from '../types/context.ts'
import { checkErrors } from '../contract/contract-options.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkText } from '../options/checks.ts'
import { refuseForeign } from '../options/foreign-handlers.ts'
import { reply } from '../reply/reply.ts'
import { briefValue } from '../errors/brief-value.ts'
import { isThenable } from '../types/thenable.ts'
import type {
  AnyParts,
  DeclaredErrors,
  LooseErrors,
  LooseState,
  Middleware,
  Next,
  Schemas,
} from '../types/parts.ts'
import type { Enclosure, Gate, Layer, RequestContext } from '../types/request.ts'
import type { Encoder, SendHook } from '../types/send-hook.ts'
import type { PathPrefix } from '../routing/prefix.ts'
import type { Declaration, ResponseListener, SecuritySchemes } from '../types/declaration.ts'

export interface MiddlewareMetadata extends Declaration {
  readonly gate?: Gate
  /** True where the user made it with `before`. */
  readonly isCheck?: boolean
  /** True where it goes before middleware that `exposes` fields, so that pages can read what that refuses. */
  readonly goesBefore?: boolean
  /** The fields of its replies that pages of other origins should be able to read. */
  readonly exposes?: readonly string[]
  /** True where its function does nothing and is left out of chains. */
  readonly skip?: boolean
  /** True where it replaces the parameters by the output of a schema. */
  readonly checksParams?: boolean
  /** The schemas that it checks parts of the request by. */
  readonly schemas?: Schemas
  /** True where it has to run before the body is read or checked, also as middleware of a route. */
  readonly isEarly?: boolean
  /** The quick look of its send hook: false where that has nothing to do with a reply. */
  readonly sendConcerns?: Encoder['concerns']
  /** True where it concerns a request as a whole, so that it has no place on a procedure. */
  readonly isOfRequest?: boolean
  /** True where it needs the watch of a request. */
  readonly isWatched?: boolean
  /** True where it decides by the head of a request whether that may pass: the body is then read behind it. */
  readonly beforeBody?: boolean
  /** True where it reads the body, which is then read before what stands behind it. */
  readonly readsBody?: boolean
  /** The layers that run inside a handler, behind the body: those of procedures. */
  readonly within?: readonly object[]
  /** It gives replies the form in which they travel. */
  readonly encoder?: Encoder
  /** The whole request runs inside of it, wherever the middleware stands. */
  readonly enclosure?: Enclosure
  /** Answers errors of its scope, or passes one on: its error, or another. */
  readonly onError?: ErrorStep
  /** Gives the middleware for requests under a path, where `use` has one in front of it. */
  readonly mounted?: (paths: PathPrefix) => Layer
  /** This hook runs when an app that uses it has closed its connections. */
  readonly onClose?: () => unknown
}

/** A handler of errors that may leave them to the next one. */
export type ErrorStep = (error: unknown, ctx: RequestContext, next: (error: unknown) => unknown) => unknown

/** It is a registered symbol, so that two copies of this package understand each other's middleware. */
const metadata = Symbol.for('volant.middleware')

/** Gives the metadata of a middleware; a plain function has none. */
export function metadataOf(layer: object): MiddlewareMetadata {
  return (layer as { [metadata]?: MiddlewareMetadata })[metadata] ?? {}
}

/** True for what `middleware`, `before` and the factories of this package made, and for any function with a `next`. */
export function isMiddleware(value: Function): boolean {
  return metadata in value || value.length > 1
}

/** The key of the text that shows how to write a function that was passed without being called. */
const usage = Symbol.for('volant.usage')

/**
 * Sets the hint for `make`, a factory that people pass without calling it, or a router that has to become a plugin
 * first. The error then shows `how` to write it.
 */
export function hintMisuse(make: object, how: string): void {
  Object.defineProperty(make, usage, { value: how })
}

export function usageOf(layer: object): string | undefined {
  return (layer as { [usage]?: string })[usage]
}

/** Throws `E_BAD_HANDLER` for a plugin that was called, and so got no scope, where it has to be registered. */
export function checkScope(plugin: Function, scope: unknown): void {
  if (typeof (scope as { register?: unknown } | undefined)?.register === 'function') return
  const how = usageOf(plugin) ?? `app.register(${plugin.name})`
  throw new VolantError(
    'E_BAD_HANDLER',
    `${plugin.name} is a plugin, and was called without a scope: write ${how}`,
  )
}

/** The parts of a context whose middleware adds `State` and declares `Errors`. */
interface Adding<State, Errors = LooseErrors> extends Omit<AnyParts, 'state' | 'errors'> {
  state: State
  errors: Errors
}

/** A declaration without typed errors: beside a named state their types would be lost. */
interface WithoutErrors<Message> extends Omit<Declaration, 'errors'> {
  /** The compiler shows how to name both state and errors. */
  errors?: Message
}

/**
 * The result of `middleware<State>()` and `before<State>()`: a function that takes a declaration, so that both are
 * typed.
 */
export interface Declaring<State extends object, Arguments extends unknown[]> {
  <const E extends DeclaredErrors = {}>(
    declaration: Declaration & { errors?: E },
    run: (ctx: ContextOf<Adding<State, E>>, ...rest: Arguments) => unknown,
  ): Middleware<{ state: State; errors: E }>
}

/**
 * Makes a middleware that declares what it adds to `ctx.state`:
 *
 *     const auth = middleware<{ user: User }>(async (ctx, next) => {
 *       ctx.state.user = await userOf(ctx)
 *       await next()
 *     })
 *
 * Behind it, in `app.with(auth)` or on a route, `ctx.state.user` is typed. With a declaration in front it also says
 * which errors and security schemes it brings: the routes behind it have these errors, too. With state and errors both,
 * name the state first: `middleware<{ user: User }>()({ errors: { UNAUTHORIZED: { status: 401 } } }, run)`. Throws
 * `E_BAD_HANDLER` if `run` is no function, `E_BAD_OPTION` for a declaration that makes no sense.
 */
export function middleware<State extends object>(): Declaring<State, [next: Next]>
export function middleware<State extends object = {}>(
  run: (ctx: ContextOf<Adding<State>>, next: Next) => unknown,
): Middleware<{ state: State }>
export function middleware<State extends object = {}>(
  declaration: WithoutErrors<'name the state first: middleware<State>()({ errors }, run)'>,
  run: (ctx: ContextOf<Adding<State>>, next: Next) => unknown,
): Middleware<{ state: State }>
export function middleware<const E extends DeclaredErrors>(
  declaration: Declaration & { errors?: E | undefined },
  run: (ctx: ContextOf<Adding<LooseState, E>>, next: Next) => unknown,
): Middleware<{ errors: E }>
export function middleware(first?: unknown, second?: unknown): unknown {
  if (first === undefined && second === undefined) return middleware
  const [declaration, run] = declared('middleware', first, second)
  const layer = run as (ctx: unknown, next: Next) => unknown
  return declaration === null ? layer : attach((ctx: Context, next: Next) => layer(ctx, next), declaration)
}

/**
 * Makes a middleware that only runs before the handler: without `next` it costs less. The handler runs next unless it
 * throws, replies, or returns a value, which is then the reply.
 */
export function before<State extends object>(): Declaring<State, []>
export function before<State extends object = {}>(
  run: (ctx: ContextOf<Adding<State>>) => unknown,
): Middleware<{ state: State }>
export function before<State extends object = {}>(
  declaration: WithoutErrors<'name the state first: before<State>()({ errors }, run)'>,
  run: (ctx: ContextOf<Adding<State>>) => unknown,
): Middleware<{ state: State }>
export function before<const E extends DeclaredErrors>(
  declaration: Declaration & { errors?: E | undefined },
  run: (ctx: ContextOf<Adding<LooseState, E>>) => unknown,
): Middleware<{ errors: E }>
export function before(first?: unknown, second?: unknown): unknown {
  if (first === undefined && second === undefined) return before
  const [declaration, run] = declared('before', first, second)
  return gateOf(run as Gate, { ...declaration, isCheck: true })
}

/** Gives the gate as a middleware, for chains and for middleware that calls it. */
export function gateOf(gate: Gate, declaration: Omit<MiddlewareMetadata, 'gate' | 'skip'> = {}): Middleware {
  const layer = (ctx: Context, next: Next): unknown => {
    const given = ctx as unknown as RequestContext
    const value = gate(given)
    if (isThenable(value)) return after(given, value, next)
    if (value !== undefined && value !== ctx) return value
    return ctx.replied ? undefined : next()
  }
  return attach(layer, { ...declaration, gate } as MiddlewareMetadata)
}

async function after(ctx: RequestContext, promise: PromiseLike<unknown>, next: Next): Promise<void> {
  const value = await promise
  if (value !== undefined && value !== ctx) await reply(ctx, value)
  else if (!ctx.replied) await next()
}

/** Makes a middleware that only listens to complete replies, and to the end of the app. */
export function observer(onResponse: ResponseListener, onClose?: () => unknown): Middleware {
  const what: MiddlewareMetadata = { onResponse, skip: true, ...(onClose === undefined ? {} : { onClose }) }
  return attach((_: Context, next: Next): unknown => next(), what)
}

/** Makes a middleware that only changes replies before they leave: those that `sendConcerns` takes, if it is given. */
export function sender(onSend: SendHook, sendConcerns?: Encoder['concerns']): Middleware {
  const what: MiddlewareMetadata = {
    onSend,
    skip: true,
    ...(sendConcerns === undefined ? {} : { sendConcerns }),
  }
  return attach((_: Context, next: Next): unknown => next(), what)
}

/** Makes a middleware that whole requests run inside of. */
export function enclosing(enclosure: Enclosure): Middleware {
  return attach((_: Context, next: Next): unknown => next(), { enclosure, skip: true })
}

/** Makes a middleware that only encodes replies. */
export function encoding(encoder: Encoder): Middleware {
  return attach((_: Context, next: Next): unknown => next(), { encoder, skip: true } as MiddlewareMetadata)
}

/** Restricts `layer`, with its metadata, to the requests whose path `holds`. */
export function confine(layer: Layer, holds: (path: string) => boolean): Layer {
  const { gate, onResponse, onSend, encoder, enclosure, onError, ...rest } = metadataOf(layer)
  return attach(((ctx, next) => (holds(ctx.path) ? layer(ctx, next) : next())) as Layer, {
    ...rest,
    ...(gate === undefined ? {} : { gate: (ctx) => (holds(ctx.path) ? gate(ctx) : undefined) }),
    ...(onResponse === undefined
      ? {}
      : { onResponse: (ctx, info) => (holds(ctx.path) ? onResponse(ctx, info) : undefined) }),
    ...(enclosure === undefined
      ? {}
      : { enclosure: (ctx, run) => (holds(ctx.path) ? enclosure(ctx, run) : run(ctx)) }),
    ...(onSend === undefined
      ? {}
      : { onSend: (ctx, reply) => (holds(ctx.path) ? onSend(ctx, reply) : undefined) }),
    ...(onError === undefined
      ? {}
      : { onError: (error, ctx, next) => (holds(ctx.path) ? onError(error, ctx, next) : next(error)) }),
    ...(encoder === undefined ? {} : { encoder: confineEncoder(encoder, holds) }),
  })
}

function confineEncoder(encoder: Encoder, holds: (path: string) => boolean): Encoder {
  return {
    name: encoder.name,
    concerns: (ctx, content, status) => holds(ctx.path) && encoder.concerns(ctx, content, status),
    encode: (ctx, reply) => (holds(ctx.path) ? encoder.encode(ctx, reply) : undefined),
  }
}

/** Gives the alternatives: a request that meets the schemes of one of them may pass. */
export function alternativesIn(security: NonNullable<Declaration['security']>): readonly SecuritySchemes[] {
  return Array.isArray(security) ? security : [security as SecuritySchemes]
}

/** Gives `layer` metadata. It is for middleware of this package that has more than the makers above give. */
export function attach<L extends object>(layer: L, what: MiddlewareMetadata): L {
  return Object.assign(layer, { [metadata]: what })
}

const declarations = new Set(['errors', 'security', 'scopes', 'onResponse', 'onSend'])

function declared(name: string, first: unknown, second: unknown): [Declaration | null, unknown] {
  const run = second === undefined ? first : second
  if (typeof run !== 'function') {
    throw new VolantError('E_BAD_HANDLER', `${name} takes a function, not ${briefValue(run)}`)
  }
  refuseForeign(run, `the function of ${name}()`)
  if (name === 'before' && run.length > 1) {
    throw new VolantError(
      'E_BAD_HANDLER',
      'before takes a function (ctx), which has no next and goes on by itself: for (ctx, next) write middleware(…), or leave before out',
    )
  }
  if (second === undefined) return [null, run]
  if (typeof first !== 'object' || first === null) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${name} takes a declaration before the function, not ${briefValue(first)}`,
    )
  }
  const declaration = first as Declaration
  for (const key of Object.keys(declaration)) {
    if (!declarations.has(key)) {
      throw new VolantError(
        'E_BAD_OPTION',
        `a middleware declares errors, security, scopes, onResponse or onSend, not ${key}`,
      )
    }
  }
  if (declaration.errors !== undefined) checkErrors(name, declaration.errors)
  if (declaration.security !== undefined) checkSecurity(name, declaration.security)
  if (declaration.scopes !== undefined) {
    checkEach(`${name}: scopes`, declaration.scopes, 'an array of names', (where, each) =>
      checkText(where, each, /^\S+$/, 'names without spaces'),
    )
  }
  for (const hook of ['onResponse', 'onSend'] as const) {
    const given: unknown = declaration[hook]
    if (given !== undefined && typeof given !== 'function') {
      throw new VolantError('E_BAD_HANDLER', `${name}: ${hook} takes a function, not ${briefValue(given)}`)
    }
  }
  return [declaration, run]
}

function checkSecurity(where: string, security: unknown): void {
  const wanted =
    "schemes by name such as { bearer: { type: 'http', scheme: 'bearer' } }, or an array of these"
  if (!isObject(security) || (Array.isArray(security) && security.length === 0))
    throw bad(`${where}: security`, security, wanted)
  for (const schemes of alternativesIn(security as SecuritySchemes)) {
    if (!isObject(schemes) || Array.isArray(schemes)) throw bad(`${where}: security`, schemes, wanted)
    for (const [name, scheme] of Object.entries(schemes)) {
      // OpenAPI 3.1 §4.8.7.1 allows these names.
      if (!/^[\w.-]+$/.test(name))
        throw bad(`${where}: security`, name, "names made of letters, digits, '.', '-' and '_'")
      if (!isObject(scheme) || typeof scheme['type'] !== 'string') {
        throw bad(
          `${where}: security.${name}`,
          scheme,
          "a Security Scheme Object of OpenAPI such as { type: 'http', scheme: 'bearer' }",
        )
      }
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
