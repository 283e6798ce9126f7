/** Exposes routes: gives them names, finds contracts without a handler, and tells clients where each route is. */
import { type APITree, namedRoutes } from '../contract/api-tree.ts'
import { contractBehind } from '../contract/implement.ts'
import { VolantError } from '../errors/errors.ts'
import { textOrJSON } from '../schema/text-or-json.ts'
import { checkIds, type RouteInfo } from './route-info.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Responses, Route } from '../types/parts.ts'
import type { RouteDefinition } from '../dispatch/route-definition.ts'
import { type ClientRoute, type ClientRoutes, isNoText } from '../types/client-routes.ts'

const unnamed: readonly string[] = []

export class Exposed {
  /** The names of each route, the first one in front. */
  readonly #names = new Map<Route, string[]>()
  /** The exposed routes of mounted apps. */
  readonly #inner: Exposed[] = []

  /** Adds a tree. Throws `E_BAD_OPTION` for a value that is not a tree of routes, and for a repeated name. */
  add(tree: APITree): void {
    const routes = namedRoutes(tree, 'expose')
    const taken = new Set([...this.#names.values()].flat())
    for (const { name } of routes) {
      if (taken.has(name))
        throw new VolantError('E_BAD_OPTION', `expose was given two routes with the name ${name}`)
      taken.add(name)
    }
    for (const { name, route } of routes) {
      const key = contractBehind.get(route) ?? route
      this.#names.set(key, [...(this.#names.get(key) ?? []), name])
    }
  }

  /** Makes the names of `inner` operation ids here, too. */
  mount(inner: Exposed): void {
    this.#inner.push(inner)
  }

  /** Gives the first name of a route, else its name in a mounted app. */
  nameOf(route: Route): string | undefined {
    const [own] = this.namesOf(route)
    return own ?? this.#inner.map((inner) => inner.nameOf(route)).find((name) => name !== undefined)
  }

  namesOf(route: Route): readonly string[] {
    return this.#names.get(route) ?? unnamed
  }

  /** Throws `E_NOT_IMPLEMENTED`, which names all routes that are exposed and do not exist. */
  check(definitions: readonly RouteDefinition[]): void {
    if (this.#names.size === 0) return
    const there = new Set(definitions.map(({ value }) => value))
    const missing = [...this.#names].filter(([route]) => !there.has(route))
    if (missing.length === 0) return
    const list = missing.map(([{ method, path }, [name]]) => `${name} (${method} ${path})`).join(', ')
    throw new VolantError(
      'E_NOT_IMPLEMENTED',
      `${missing.length === 1 ? 'an exposed contract has' : 'exposed contracts have'} no handler in this app: ${list}; app.implement(contract, handler) gives it one`,
    )
  }
}

/**
 * Gives the method and path of each exposed route and what it declares. Of a route that is in several paths it gives
 * the first. Anyone may read this table.
 */
export function tableOf(routes: readonly RouteInfo[]): ClientRoutes {
  const table: Record<string, ClientRoute> = {}
  for (const route of routes) {
    if (route.hidden === true) continue
    for (const name of route.names) table[name] ??= rowOf(route)
  }
  return table
}

/**
 * Gives the statuses of a route, its errors and those of its middleware, and the media type where there is only one.
 */
export function rowOf({
  method,
  path,
  responses,
  errors,
  schemas,
  mediaType,
  consumes,
  messages,
}: Pick<
  RouteInfo,
  'method' | 'path' | 'responses' | 'errors' | 'schemas' | 'mediaType' | 'consumes' | 'messages'
>): ClientRoute {
  if (messages !== undefined) {
    const declared = (['in', 'out'] as const).filter((each) => messages[each] !== null)
    return declared.length > 0 ? [method, path, declared] : [method, path]
  }
  const codes = new Set(Object.entries(errors).map(([code, { status }]) => `${code} ${status}`))
  if (Object.keys(schemas).length > 0) codes.add('E_VALIDATION 400')
  const declares = [...Object.keys(responses ?? {}).map(Number), ...codes]
  const type = mediaType ?? (responses !== null && isAllJSON(responses) ? 'application/json' : undefined)
  if (consumes !== undefined) return [method, path, declares, type ?? '', consumes[0]]
  return type === undefined ? [method, path, declares] : [method, path, declares, type]
}

/**
 * True when no reply can be text, which would be sent as text. A reply without a schema may be a stream of any type.
 */
function isAllJSON(responses: Responses): boolean {
  return Object.entries(responses).every(([status, schema]) => {
    if (schema === null) return status === '204'
    // Where there are thousands of routes, most of the time goes into converting schemas.
    if (isNoText(schema)) return true
    const described = jsonSchemaOf(schema, 'output')
    return 'schema' in described && !textOrJSON(described.schema).text
  })
}

/** Throws `E_OPERATION_ID` for two routes that have the same name in the API's document. */
export function checkOperationIds(definitions: readonly RouteDefinition[], exposed: Exposed): void {
  checkIds(
    definitions.map(({ method, pattern: path, contract, value }) => ({
      method,
      path,
      id: contract.description.operationId ?? exposed.namesOf(value)[0],
      value,
    })),
  )
}
