/** The replies to requests that no route takes, compiled for the app and for each of its scopes with a prefix. */
import { errorsOf } from '../contract/declared-errors.ts'
import { refusal } from '../errors/errors.ts'
import type { PathPrefix } from '../routing/prefix.ts'
import type { CompiledRoute, RequestContext, RouteLimits } from '../types/request.ts'
import { metadataOf } from './declare.ts'
import { exposedBy, sendHooksOf, watching } from './layer-parts.ts'
import type { ScopeLayers } from './route-definition.ts'
import { compileChain, errorHandlerOf, layersFor, notFoundHandler } from './scope-layers.ts'

export function compileMisses(
  nodes: readonly ScopeLayers[],
  params: PathPrefix['params'],
  limits: RouteLimits,
  caseSensitive: boolean,
): CompiledRoute[] {
  const layers = layersFor(nodes, null, caseSensitive)
  const notFound = nodes.findLast((node) => node.notFound !== null)?.notFound ?? null
  const errors = errorsOf('a path without a route', layers.map(metadataOf), {})
  return [
    notFoundHandler(notFound),
    methodNotAllowed,
    options,
    upgradeRequired,
    plainRequest,
    misdirected,
  ].map((handler) => ({
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
  throw refusal('E_UPGRADE_REQUIRED', 'no WebSocket has this path')
}

/** The place of `plainRequest` among the misses. */
export const webSocketRequired = 4

/** The path has a WebSocket alone, and the request does not ask for one. The field has the adapter name that in Upgrade. */
function plainRequest(): never {
  throw refusal('E_UPGRADE_REQUIRED', 'this path has only a WebSocket: ask for it with Upgrade: websocket', {
    'sec-websocket-version': '13',
  })
}

/** The index of `misdirected` among the misses. */
export const misdirectedRequest = 5

function misdirected(ctx: RequestContext): never {
  throw refusal(
    'E_MISDIRECTED',
    `This connection has the certificate of another host than ${ctx.exchange.authority}.`,
  )
}
