/** Finds what the operations of a document require, and the security schemes that they name. */
import type { RouteInfo } from '../app/route-info.ts'
import { alternativesIn } from '../dispatch/declare.ts'
import type { Declaration } from '../types/declaration.ts'
import { VolantError } from '../errors/errors.ts'
import type { OpenAPIOptions } from './options.ts'

export type Requirement = Record<string, string[]>

/** The security of a route is its own, or else what the middleware in front of it requires together. */
export function securityOf({ security, declarations }: RouteInfo): Requirement[] | undefined {
  if (security !== undefined) return security.map(requirement)
  let lists: (readonly string[])[] = [[]]
  let isDeclared = false
  // A request that passes a middleware once passes it twice in the same way.
  for (const declared of new Set(declarations.map((each) => each.security))) {
    if (declared === undefined || Object.keys(declared).length === 0) continue
    isDeclared = true
    // Each middleware accepts any one of its alternatives: all of them together accept one of each.
    const alternatives = alternativesIn(declared).map(Object.keys)
    lists = lists.flatMap((list) => alternatives.map((names) => [...new Set([...list, ...names])]))
  }
  if (!isDeclared) return undefined
  const distinct = new Map(lists.map((list) => [list.toSorted().join(), list]))
  const scopes = [...new Set(declarations.flatMap((each) => each.scopes ?? []))]
  const scoped = new Set(
    declarations.flatMap(schemesIn).flatMap(([name, scheme]) => (hasScopes(scheme) ? [name] : [])),
  )
  return [...distinct.values()].map((names) =>
    Object.fromEntries(names.map((name) => [name, scoped.has(name) ? [...scopes] : []])),
  )
}

/** OpenAPI 3.1 §4.8.30 lets other types than the first two name what is needed, too. */
function hasScopes({ type, scheme }: Readonly<Record<string, unknown>>): boolean {
  if (type === 'oauth2' || type === 'openIdConnect') return true
  return type === 'http' && String(scheme).toLowerCase() === 'bearer'
}

export function requirement(given: Readonly<Record<string, readonly string[]>>): Requirement {
  return Object.fromEntries(Object.entries(given).map(([name, scopes]) => [name, [...scopes]]))
}

export type Schemes = Map<string, Readonly<Record<string, unknown>>>

/**
 * Gives the schemes that `routes` declare, and those of `all` that they require. Throws `E_BAD_OPTION` for two schemes
 * of one name, and for a requirement of a scheme that neither the options nor `all` declare.
 */
export function schemesOf(
  routes: readonly RouteInfo[],
  { securitySchemes = {}, security = [] }: OpenAPIOptions,
  all: readonly RouteInfo[],
): Schemes {
  const schemes: Schemes = new Map(Object.entries(securitySchemes))
  for (const route of routes) {
    for (const [name, scheme] of declaredBy(route)) {
      const before = schemes.get(name)
      if (before !== undefined && before !== scheme && JSON.stringify(before) !== JSON.stringify(scheme)) {
        throw new VolantError(
          'E_BAD_OPTION',
          `the security scheme ${JSON.stringify(name)} of ${route.method} ${route.path} is not the one of that name declared before: rename one of them`,
        )
      }
      schemes.set(name, scheme)
    }
  }
  let others: Schemes | null = null
  const need = (where: string, requirements: readonly object[]): void => {
    for (const name of requirements.flatMap((each) => Object.keys(each))) {
      if (schemes.has(name)) continue
      const scheme = (others ??= new Map(all.flatMap(declaredBy))).get(name)
      if (scheme === undefined) {
        throw new VolantError(
          'E_BAD_OPTION',
          `the security of ${where} requires the scheme ${JSON.stringify(name)}, which no middleware declares: declare it there or in securitySchemes`,
        )
      }
      schemes.set(name, scheme)
    }
  }
  need('the document', security)
  for (const route of routes) need(`${route.method} ${route.path}`, route.security ?? [])
  return schemes
}

function declaredBy({ declarations }: RouteInfo): [string, Readonly<Record<string, unknown>>][] {
  return declarations.flatMap(schemesIn)
}

function schemesIn({ security = [] }: Declaration): [string, Readonly<Record<string, unknown>>][] {
  return alternativesIn(security).flatMap(Object.entries)
}
