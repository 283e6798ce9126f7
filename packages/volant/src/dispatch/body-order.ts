/**
 * Where in the chain of a route its body is read. Layers that decide by the head of a request come before: then the
 * request is dispatched without its body, and a stranger cannot make the server hold one.
 */
import { metadataOf } from './declare.ts'
import { overlap } from '../routing/prefix.ts'
import type { Layer } from '../types/request.ts'
import type { RouteDefinition } from './route-definition.ts'

/** The order of a route's layers: its scopes' and its own, around the body. */
export interface BodyOrder {
  /** The own layers that run before the body is checked, in their order. */
  readonly first: readonly Layer[]
  /** The own layers that run after. */
  readonly rest: readonly Layer[]
  /** The number of layers, of the scopes and of `first`, that run before the body is read. */
  readonly bodyAt: number
}

/** Gives the order; `outer` are the layers of the scopes. */
export function bodyOrderOf(outer: readonly Layer[], own: readonly Layer[]): BodyOrder {
  // What stands in front of a deciding layer stays there: a rate limit, or the session that it looks at.
  const decided = own.findLastIndex(decides) + 1
  const first = own.filter((layer, at) => at < decided || isEarly(layer))
  const rest = own.filter((layer, at) => at >= decided && !isEarly(layer))
  const bodyAt = [...outer, ...first].findLastIndex(decides) + 1
  return { first, rest, bodyAt }
}

/** True where the body is read by a layer of the chain, not before the request is dispatched. */
export function readsBodyLate(route: RouteDefinition): boolean {
  if (route.bodyMode !== 'buffer') return route.bodyMode === 'checked'
  return hasDecider(route) && bodyReaderOf(route) === null
}

/** True where a layer in front of the handler decides by the head. */
export function hasDecider({ nodes, pattern, middleware }: RouteDefinition): boolean {
  return (
    middleware.some(decides) ||
    nodes.some(({ layers }) => layers.some(({ layer, under }) => decides(layer) && meets(under, pattern)))
  )
}

/** Gives the layer that is known to read the body and stands in front of one that decides by the head, or null. */
export function bodyReaderOf({ nodes, pattern, middleware }: RouteDefinition): Layer | null {
  const all = [
    ...nodes.flatMap(({ layers }) =>
      layers.filter(({ under }) => meets(under, pattern)).map(({ layer }) => layer),
    ),
    ...middleware,
  ]
  const last = all.findLastIndex(decides)
  return all.find((layer, at) => at < last && metadataOf(layer).readsBody === true) ?? null
}

function meets(under: string | null, pattern: string): boolean {
  return under === null || overlap(under, pattern, false) !== 'never'
}

function decides(layer: Layer): boolean {
  return metadataOf(layer).beforeBody === true
}

function isEarly(layer: Layer): boolean {
  return metadataOf(layer).isEarly === true
}
