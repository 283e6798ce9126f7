/** Compiles a route: what its scopes, its schemas and its own middleware do, in their order, and its handler. */
import { BodyKind } from '@volant/engine'
import { typedAs, underContract } from '../contract/check-replies.ts'
import { errorsOf } from '../contract/declared-errors.ts'
import { ResponsePlan } from '../contract/response-plan.ts'
import { collectBody, decodeWhole, wholeBody } from '../request/body.ts'
import { gateFor } from '../request/validation.ts'
import { parsePattern } from '../routing/path.ts'
import { isDescribedOnly } from '../schema/doc-only.ts'
import type { CompiledRoute, Layer, RequestContext } from '../types/request.ts'
import { bodyOrderOf, readsBodyLate } from './body-order.ts'
import { isNothing } from './chain.ts'
import { gateOf, metadataOf } from './declare.ts'
import { encodes } from './encoders.ts'
import { exposedBy, sendHooksOf, watching } from './layer-parts.ts'
import type { RouteDefinition } from './route-definition.ts'
import { compileChain, errorHandlerOf, layersFor } from './scope-layers.ts'

/** Compiles a route. Throws for metadata that contradicts itself. */
export function compileRoute(route: RouteDefinition, caseSensitive: boolean): CompiledRoute {
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

/** Gives what answers with `error` in place of a route that could not be compiled. The rest of it is that of `miss`. */
export function failedRoute(
  { nodes, pattern }: RouteDefinition,
  caseSensitive: boolean,
  miss: CompiledRoute,
  error: unknown,
): CompiledRoute {
  const fails = (): never => {
    throw error
  }
  return {
    ...miss,
    ...compileChain(nodes, layersFor(nodes, pattern, caseSensitive), fails),
    ...errorHandlerOf(nodes, pattern, caseSensitive, []),
    pattern,
  }
}

/** Throws at the start if errors of middleware contradict each other or the route's own. */
export function checkErrorsOf(route: RouteDefinition, caseSensitive: boolean): void {
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
