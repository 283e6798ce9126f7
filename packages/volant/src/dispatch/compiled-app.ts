/**
 * A started app as adapters see it: its route table, chains that are compiled when they are needed, and the state that
 * all requests share.
 */
import { inspect } from 'node:util'
import {
  BodyKind,
  BodyMode,
  type Exchange,
  type Host,
  type Limits,
  Miss,
  methods,
  type RouteEntry,
  type RouterOptions,
} from '@volant/engine'
import { collectBody, decodeWhole, wholeBody } from '../request/body.ts'
import { bodyOrderOf, readsBodyLate } from './body-order.ts'
import { compile, isLayered, isNothing } from './chain.ts'
import { conclude, trackOwnReply } from './conclude.ts'
import { errorsOf } from '../contract/declared-errors.ts'
import { dispatch } from './dispatch.ts'
import { checkEncoders, encodes, oneEncoder } from './encoders.ts'
import { answerFailure } from './failure.ts'
import { refusal } from '../errors/errors.ts'
import { metadataOf, confine, gateOf } from './declare.ts'
import { printLine } from '../report/print-line.ts'
import { overlap, type PathPrefix, pathPrefix } from '../routing/prefix.ts'
import { typedAs, underContract } from '../contract/check-replies.ts'
import { ResponsePlan } from '../contract/response-plan.ts'
import { isDescribedOnly } from '../schema/doc-only.ts'
import { isThenable } from '../types/thenable.ts'
import { gateFor } from '../request/validation.ts'
import type {
  Audience,
  BodyLedger,
  CompiledRoute,
  Enclosure,
  Layer,
  RequestApp,
  RequestContext,
  RouteLimits,
  Trust,
} from '../types/request.ts'
import type { Log } from '../types/log.ts'
import type { ResponseListener } from '../types/declaration.ts'
import type { Encoder, SendHook } from '../types/send-hook.ts'
import { serverCloses } from '../reply/abort.ts'
import type { PrefixScope, RouteDefinition, ScopeLayers } from './route-definition.ts'
import { parsePattern } from '../routing/path.ts'

/** The definition of an app before it starts. */
export interface Definition {
  readonly serving: RequestApp['serving']
  readonly limits: Limits
  readonly router: RouterOptions
  readonly routes: readonly RouteDefinition[]
  /** The app's own scope. */
  readonly node: ScopeLayers
  readonly prefixScopes: readonly PrefixScope[]
  readonly trust: Trust | null
  readonly errorDetails: Audience
  readonly report: ((error: unknown, ctx: RequestContext) => void) | null
}

export class CompiledApp implements Host, RequestApp {
  readonly routes: readonly RouteEntry[]
  readonly router: RouterOptions
  readonly limits: Limits
  readonly ledger: BodyLedger
  readonly trust: Trust | null
  readonly errorDetails: Audience
  readonly serving: RequestApp['serving']
  /** The methods, each at the index of its bit in a set. */
  readonly #methods: readonly string[]
  readonly streams = new Set<RequestContext>()
  readonly #report: Definition['report']
  readonly #definitions: readonly RouteDefinition[]
  /** The compiled routes. Each is compiled at its first request: of thousands most have none for a long time. */
  readonly #table: (CompiledRoute | null)[]
  /** The misses of the app's own scope, in the order of `Miss`: −1, −2, −3, −4. */
  readonly #misses: readonly CompiledRoute[]
  /** The misses of scopes with a prefix, the longest prefix first. */
  readonly #prefixScopes: readonly { paths: PathPrefix; misses: readonly CompiledRoute[] }[]

  constructor(definition: Definition) {
    const { limits, router } = definition
    this.limits = limits
    this.router = router
    this.#methods = [...methods, ...router.methods]
    this.ledger = { held: 0, limit: limits.maxBufferedBodies }
    this.trust = definition.trust
    this.serving = definition.serving
    this.errorDetails = definition.errorDetails
    this.#report = definition.report
    this.routes = definition.routes.map((route) => ({
      method: route.method,
      pattern: route.pattern,
      bodyMode: readsBodyLate(route) ? BodyMode.late : BodyMode[route.bodyMode as 'buffer' | 'stream'],
      maxBodySize: route.maxBodySize,
    }))
    this.#definitions = definition.routes
    this.#table = definition.routes.map(() => null)
    for (const route of definition.routes) checkErrorsOf(route, router.caseSensitive)
    checkEncoders(definition)
    this.#misses = compileMisses([definition.node], null, limits, router.caseSensitive)
    this.#prefixScopes = definition.prefixScopes
      .map(({ prefix, nodes }) => {
        const paths = pathPrefix(prefix, router.caseSensitive)
        return { paths, misses: compileMisses(nodes, paths.params, limits, router.caseSensitive) }
      })
      .toSorted((a, b) => b.paths.depth - a.paths.depth)
  }

  dispatch(exchange: Exchange, id: number, allow: number): void {
    const route =
      id >= 0 ? (this.#table[id] ?? this.#compile(id)) : this.#miss(exchange.path, Miss.notFound - id)
    dispatch(this, exchange, route, allow)
  }

  #compile(id: number): CompiledRoute {
    const definition = this.#definitions[id] as RouteDefinition
    let route: CompiledRoute
    try {
      route = compileRoute(definition, this.router.caseSensitive)
    } catch (error) {
      // The metadata of middleware was checked at the start and may have changed since. An adapter cannot handle
      // errors.
      const { nodes, pattern } = definition
      const layers = layersFor(nodes, pattern, this.router.caseSensitive)
      const chain = compileChain(nodes, layers, () => thrown(error))
      const handler = errorHandlerOf(nodes, pattern, this.router.caseSensitive, [])
      route = { ...(this.#misses[0] as CompiledRoute), ...chain, ...handler, pattern }
    }
    this.#table[id] = route
    return route
  }

  /** Gives the route for a miss: the one of the innermost scope whose prefix the path has. */
  #miss(path: string, kind: number): CompiledRoute {
    const inside = this.#prefixScopes.find(({ paths }) => paths.holds(path))
    return (inside?.misses ?? this.#misses)[kind] as CompiledRoute
  }

  conclude(ctx: RequestContext): void {
    conclude(ctx, undefined)
  }

  trackOwnReply(ctx: RequestContext, work: Promise<void>): Promise<void> {
    return trackOwnReply(ctx, work)
  }

  answer(ctx: RequestContext, error: unknown): void {
    answerFailure(ctx, error)
  }

  get log(): Log {
    return this.serving.log
  }

  get reportsToStderr(): boolean {
    return this.#report === null
  }

  allowed(bits: number): string {
    return this.#methods.filter((_, index) => bits & (1 << index)).join(', ')
  }

  /** Aborts the signals of streams, since the server is closing. */
  tellStreams(): void {
    for (const ctx of this.streams) ctx.stop(serverCloses)
  }

  report(error: unknown, ctx: RequestContext): void {
    try {
      const result: unknown = this.#report?.(error, ctx)
      if (isThenable(result)) result.then(undefined, tellOfReport)
      if (this.#report === null)
        printLine(`volant: ${ctx.method} ${ctx.path || ctx.pattern}: ${inspect(error)}`)
    } catch (second) {
      tellOfReport(second)
    }
  }
}

function thrown(error: unknown): never {
  throw error
}

function tellOfReport(error: unknown): void {
  printLine(`volant: the report option threw: ${inspect(error)}`)
}

/** Throws at the start if errors of middleware contradict each other or the route's own. */
function checkErrorsOf(route: RouteDefinition, caseSensitive: boolean): void {
  const { nodes, middleware } = route
  if (
    !middleware.some(bringsErrors) &&
    !nodes.some(({ layers }) => layers.some(({ layer }) => bringsErrors(layer)))
  )
    return
  const layers = [...layersFor(nodes, route.pattern, caseSensitive), ...middleware]
  errorsOf(
    `${route.method} ${route.pattern}`,
    layers.map(metadataOf),
    route.contract.errors,
    route.undeclaredProperties,
  )
}

function bringsErrors(layer: Layer): boolean {
  return metadataOf(layer).errors !== undefined
}

function compileRoute(route: RouteDefinition, caseSensitive: boolean): CompiledRoute {
  const { pattern, nodes, beforeBody } = route
  const { consumes = null } = route.contract.description
  // Where the handler itself reads the form, its schema is for callers alone.
  const readsForm = consumes !== null && route.bodyMode !== 'stream'
  const { body: _, ...others } = route.schemas
  const checked = consumes === null || readsForm ? route.schemas : others
  const check = gateFor(checked, pattern, readsForm)
  const outer = layersFor(nodes, pattern, caseSensitive)
  if (outer.some((layer) => metadataOf(layer).checksParams === true)) outer.push(ownParams)
  const { first, rest, bodyAt } = bodyOrderOf(outer, route.middleware)
  const early = [...outer, ...first]
  const isLate = readsBodyLate(route)
  if (beforeBody !== null) early.push(bodyGate(beforeBody, route.maxBodySize))
  else if (isLate) early.splice(bodyAt, 0, bodyGate(null, route.maxBodySize))
  const layers = [
    ...early,
    ...(readsForm ? [formBody] : []),
    ...(check === null ? [] : [gateOf(check) as unknown as Layer]),
    ...rest,
  ]
  const where = `${route.method} ${pattern}`
  const { responses, errors, description } = route.contract
  const { mediaType } = description
  const own = mediaType === undefined ? route.handler : typedAs(mediaType, route.handler)
  const handler =
    responses === null || isDescribedOnly(responses)
      ? own
      : underContract(own, new ResponsePlan(where, responses, route.undeclaredProperties))
  return {
    ...compileChain(nodes, layers, handler),
    ...errorHandlerOf(nodes, pattern, caseSensitive, route.middleware),
    errors: errorsOf(where, layers.map(metadataOf), errors, route.undeclaredProperties),
    pattern,
    paramNames: parsePattern(pattern).names,
    bodyMode: isLate ? 'checked' : route.bodyMode,
    consumes,
    maxBodySize: route.maxBodySize,
    limits: route.limits,
    ...watching(nodes, layers, route.handlerTimeout),
    ...sendHooksOf(route.compress ? layers : layers.filter((layer) => !encodes(layer))),
    exposes: exposedBy(layers),
  }
}

function compileMisses(
  nodes: readonly ScopeLayers[],
  params: PathPrefix['params'],
  limits: RouteLimits,
  caseSensitive: boolean,
): CompiledRoute[] {
  const layers = layersFor(nodes, null, caseSensitive)
  const notFound = nodes.findLast((node) => node.notFound !== null)?.notFound ?? null
  const errors = errorsOf('a path without a route', layers.map(metadataOf), {})
  return [notFoundHandler(notFound), methodNotAllowed, options, upgradeRequired].map((handler) => ({
    ...withParams(params, compileChain(nodes, layers, handler)),
    ...errorHandlerOf(nodes, null, caseSensitive, []),
    errors,
    pattern: null,
    paramNames: [],
    bodyMode: 'buffer',
    consumes: null,
    maxBodySize: 0,
    limits,
    ...watching(nodes, layers, 0),
    ...sendHooksOf(layers),
    exposes: exposedBy(layers),
  }))
}

/**
 * Gives the handler of errors: that of the innermost scope which has one, behind the error middleware of all scopes.
 * Those of inner scopes come first; of one scope, the first registered first, as in Express.
 */
function errorHandlerOf(
  nodes: readonly ScopeLayers[],
  pattern: string | null,
  caseSensitive: boolean,
  own: readonly Layer[],
): Pick<CompiledRoute, 'errorHandler'> {
  const innermost = nodes.findLast((node) => node.errorHandler !== null)?.errorHandler ?? null
  const scopes = nodes.toReversed().map((node) => layersFor([node], pattern, caseSensitive))
  const steps = [own, ...scopes].flat().flatMap((layer) => metadataOf(layer).onError ?? [])
  if (steps.length === 0) return { errorHandler: innermost }
  return {
    errorHandler: (error, ctx) => {
      const pass = (at: number, failure: unknown): unknown => {
        const step = steps[at]
        if (step !== undefined) return step(failure, ctx, (another) => pass(at + 1, another))
        if (innermost !== null) return innermost(failure, ctx)
        if (failure !== error) throw failure
        return undefined
      }
      return pass(0, error)
    },
  }
}

function compileChain(
  nodes: readonly ScopeLayers[],
  layers: readonly Layer[],
  handler: (ctx: RequestContext) => unknown,
): Pick<CompiledRoute, 'run' | 'layered' | 'notFound'> {
  const notFound = nodes.findLast((node) => node.notFound !== null)?.notFound ?? null
  return {
    run: compile(layers, handler),
    layered: isLayered(layers),
    notFound: notFound === null ? null : notFoundHandler(notFound),
  }
}

/** Adds the parameters of a scope's prefix, which its middleware relies on also where no route has read them. */
function withParams<C extends Pick<CompiledRoute, 'run'>>(params: PathPrefix['params'], chain: C): C {
  if (params === null) return chain
  return {
    ...chain,
    run: (ctx: RequestContext) => {
      ctx.put('params', params(ctx.path))
      return chain.run(ctx)
    },
  }
}

function watching(
  nodes: readonly ScopeLayers[],
  layers: readonly Layer[],
  handlerTimeout: number,
): Pick<CompiledRoute, 'plain' | 'watched' | 'listeners' | 'enclosure' | 'handlerTimeout'> {
  const listeners: ResponseListener[] = []
  for (const node of nodes) listeners.push(...node.listeners)
  for (const layer of layers) {
    const { onResponse } = metadataOf(layer)
    if (onResponse !== undefined) listeners.push(onResponse)
  }
  const isWatched = layers.some((layer) => metadataOf(layer).isWatched === true)
  const watched = listeners.length > 0 || handlerTimeout > 0 || isWatched
  const enclosure = enclosureOf(layers)
  return { listeners, enclosure, handlerTimeout, watched, plain: !watched && enclosure === null }
}

/** Puts the enclosures of all layers into each other, the first one outermost. */
function enclosureOf(layers: readonly Layer[]): Enclosure | null {
  return layers
    .flatMap((layer) => metadataOf(layer).enclosure ?? [])
    .reduceRight<Enclosure | null>(
      (inner, outer) => (inner === null ? outer : (ctx, run) => outer(ctx, (each) => inner(each, run))),
      null,
    )
}

/** Gives the hooks from the inside out, as the way back through middleware is, and the encoder's behind them. */
function sendHooksOf(layers: readonly Layer[]): Pick<CompiledRoute, 'sendHooks' | 'concerns' | 'encoder'> {
  const senders = layers.map(metadataOf).filter(({ onSend }) => onSend !== undefined)
  const hooks = senders.map(({ onSend }) => onSend as SendHook).toReversed()
  const looks = senders.map(({ sendConcerns }) => sendConcerns)
  const encoder = oneEncoder(layers.flatMap((layer) => metadataOf(layer).encoder ?? []))
  if (encoder !== null) {
    hooks.push((ctx, reply) => encoder.encode(ctx, reply))
    looks.push((ctx, content, status) => encoder.concerns(ctx, content, status))
  }
  return { sendHooks: hooks.length === 0 ? null : hooks, concerns: anyOf(looks), encoder }
}

/** Joins the quick looks of hooks; null where one of them has none. */
function anyOf(looks: readonly (Encoder['concerns'] | undefined)[]): Encoder['concerns'] | null {
  if (looks.length === 0 || looks.some((look) => look === undefined)) return null
  const all = looks as readonly Encoder['concerns'][]
  if (all.length === 1) return all[0] as Encoder['concerns']
  return (ctx, content, status) => all.some((look) => look(ctx, content, status))
}

function exposedBy(layers: readonly Layer[]): string {
  return [...new Set(layers.flatMap((layer) => metadataOf(layer).exposes ?? []))].join(', ')
}

/** Gives the middleware of the scopes, for a route's pattern, or for any path where no route was found. */
function layersFor(nodes: readonly ScopeLayers[], pattern: string | null, caseSensitive: boolean): Layer[] {
  const layers = nodes.flatMap((node) =>
    node.layers.flatMap(({ layer: given, under }): Layer[] => {
      if (under === null) return [given]
      const paths = pathPrefix(under, caseSensitive)
      const layer = metadataOf(given).mounted?.(paths) ?? given
      const meets = pattern === null ? 'maybe' : overlap(under, pattern, caseSensitive)
      if (meets === 'never') return []
      return meets === 'always' ? [layer] : [confine(layer, (path) => paths.holds(path))]
    }),
  )
  const from = layers.findIndex((layer) => metadataOf(layer).exposes !== undefined)
  const early = layers.filter((layer, at) => from >= 0 && at > from && metadataOf(layer).goesBefore === true)
  if (early.length === 0) return layers
  return [...layers.slice(0, from), ...early, ...layers.slice(from).filter((layer) => !early.includes(layer))]
}

/** Completes the parameters: a schema of the scope knows those of its prefix alone, and the route adds its own. */
const ownParams = gateOf((ctx) => ctx.completeParams()) as unknown as Layer

/** Reads the body, once `check` has let the request pass where there is one. */
function bodyGate(check: ((ctx: RequestContext) => unknown) | null, limit: number): Layer {
  const read = (ctx: RequestContext): Promise<void> | void => {
    const { exchange } = ctx
    if (exchange.bodyKind === BodyKind.none || ctx.rare?.collected) return undefined
    if (exchange.bodyKind !== BodyKind.stream) {
      // It says to layers behind this one that the body was read.
      ctx.more.collected = wholeBody(exchange)
      return decodeWhole(ctx)
    }
    return collectBody(exchange, limit, ctx.app.ledger).then((body) => {
      ctx.more.collected = body
      return decodeWhole(ctx)
    })
  }
  if (check === null) return gateOf(read) as unknown as Layer
  return gateOf(async (ctx) => {
    const refused = await check(ctx)
    if (!isNothing(ctx, refused) || ctx.replied) return refused
    await read(ctx)
    return undefined
  }) as unknown as Layer
}

/** Makes the form of a request its body. A request without a body has none, which the schema may allow. */
const formBody = gateOf((ctx) => {
  const { collected } = ctx.rare ?? {}
  if ((collected?.length ?? (ctx.exchange.bodyKind === BodyKind.none ? 0 : 1)) === 0) return undefined
  return ctx.form().then((form) => ctx.put('body', form))
}) as unknown as Layer

function notFoundHandler(handler: ScopeLayers['notFound']): (ctx: RequestContext) => unknown {
  if (handler === null) {
    return () => {
      throw refusal('E_NOT_FOUND')
    }
  }
  return (ctx) => {
    if (ctx.statusCode === 0) ctx.statusCode = 404
    return handler(ctx)
  }
}

function methodNotAllowed(ctx: RequestContext): never {
  const allowed = ctx.app.allowed(ctx.allow)
  ctx.header('allow', allowed)
  throw refusal('E_METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here; ${allowed} are`)
}

function options(ctx: RequestContext): void {
  ctx.header('allow', ctx.app.allowed(ctx.allow))
  ctx.reply(204)
}

function upgradeRequired(): never {
  throw refusal('E_UPGRADE_REQUIRED')
}
