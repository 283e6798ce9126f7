/** Which middleware encodes the replies of a route, and the check that it is one at most. */
import { metadataOf } from './declare.ts'
import type { PlacedLayer, PrefixScope, RouteDefinition, ScopeLayers } from './route-definition.ts'
import { VolantError } from '../errors/errors.ts'
import { overlap } from '../routing/prefix.ts'
import type { Encoder } from '../types/send-hook.ts'

/** True for a middleware that has an encoder. */
export function encodes(layer: object): boolean {
  return metadataOf(layer).encoder !== undefined
}

/** Gives the encoder of a chain. Several are for paths of their own, so that one of them at most acts on a reply. */
export function oneEncoder(encoders: readonly Encoder[]): Encoder | null {
  const [first = null] = encoders
  if (encoders.length < 2) return first
  return {
    name: (first as Encoder).name,
    concerns: (ctx, content, status) => encoders.some((each) => each.concerns(ctx, content, status)),
    encode: (ctx, reply) => {
      for (const each of encoders) {
        const waits = each.encode(ctx, reply)
        if (waits !== undefined) return waits
      }
      return undefined
    },
  }
}

/** An encoder, and where it was registered. */
interface PlacedEncoder {
  readonly name: string
  readonly under: string | null
  readonly where: string
}

/** Throws `E_MIDDLEWARE_CONFLICT` where two encoders would see one reply. */
export function checkEncoders(app: {
  readonly routes: readonly RouteDefinition[]
  readonly node: ScopeLayers
  readonly prefixScopes: readonly PrefixScope[]
  readonly router: { readonly caseSensitive: boolean }
}): void {
  const { routes, node, prefixScopes, router } = app
  const names = new Map<ScopeLayers, string>([[node, 'the app']])
  for (const { prefix, nodes } of prefixScopes) {
    names.set(nodes.at(-1) as ScopeLayers, prefix === '' ? 'a mounted app' : `the scope ${prefix}`)
  }
  const placed = (layers: readonly PlacedLayer[], where: string): PlacedEncoder[] =>
    layers.flatMap(({ layer, under }) => {
      const { encoder } = metadataOf(layer)
      const place = under === null ? where : `${where}, under ${under}`
      return encoder === undefined ? [] : [{ name: encoder.name, under, where: place }]
    })
  const found = new Map<ScopeLayers, PlacedEncoder[]>()
  const inScope = (scope: ScopeLayers): PlacedEncoder[] => {
    const list =
      found.get(scope) ?? placed(scope.layers, names.get(scope) ?? 'a scope of with() or register()')
    found.set(scope, list)
    return list
  }
  const check = (
    nodes: readonly ScopeLayers[],
    own: PlacedEncoder[],
    pattern: string | null,
    what: string,
  ): void => {
    const all = [...nodes.flatMap(inScope), ...own].filter(
      ({ under }) =>
        under === null || pattern === null || overlap(under, pattern, router.caseSensitive) !== 'never',
    )
    for (const [at, first] of all.entries()) {
      const second = all.slice(at + 1).find((each) => meet(first.under, each.under, router.caseSensitive))
      if (second === undefined) continue
      throw new VolantError(
        'E_MIDDLEWARE_CONFLICT',
        `${what} would be encoded twice: by ${first.name} of ${first.where}, and by ${second.name} of ${second.where}; keep one of them`,
      )
    }
  }
  check([node], [], null, 'replies to paths without a route')
  for (const { nodes, prefix } of prefixScopes) {
    check(nodes, [], null, `replies to paths under ${prefix} without a route`)
  }
  for (const { method, pattern, nodes, middleware } of routes) {
    const own = middleware.map((layer) => ({ layer, under: null }))
    check(nodes, placed(own, 'the route itself'), pattern, `replies of ${method} ${pattern}`)
  }
}

/** True where some path is under both. */
function meet(a: string | null, b: string | null, caseSensitive: boolean): boolean {
  if (a === null || b === null) return true
  return overlap(a, b, caseSensitive) !== 'never' || overlap(b, a, caseSensitive) !== 'never'
}
