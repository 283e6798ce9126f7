/** What the scopes around a request bring: their middleware by path, and their handlers of errors and of missing paths. */
import { refusal } from '../errors/errors.ts'
import { overlap, pathPrefix } from '../routing/prefix.ts'
import type { CompiledRoute, Layer, RequestContext } from '../types/request.ts'
import { compile, isLayered } from './chain.ts'
import { confine, metadataOf } from './declare.ts'
import type { ScopeLayers } from './route-definition.ts'

/** Gives the middleware of the scopes, for a route's pattern, or for any path where no route was found. */
export function layersFor(
  nodes: readonly ScopeLayers[],
  pattern: string | null,
  caseSensitive: boolean,
): Layer[] {
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

export function compileChain(
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

export function notFoundHandler(handler: ScopeLayers['notFound']): (ctx: RequestContext) => unknown {
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

/**
 * Gives the handler of errors: that of the innermost scope which has one, behind the error middleware of all scopes.
 * Those of inner scopes come first; of one scope, the first registered first, as in Express.
 */
export function errorHandlerOf(
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
