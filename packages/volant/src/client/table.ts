/** The table of operations: their method, path and declared replies, by name. */
import { type ClientRoute, type ClientRoutes, isNoText, isTaken } from '../types/client-routes.ts'
import { ClientError } from './error.ts'

/** The properties of a contract at run time. */
interface RouteValue {
  readonly method: string
  readonly path: string
  readonly options?: Readonly<Record<string, any>>
}

/**
 * Gives the routes of a tree by their path in it. Throws `TypeError` for a value that is not a tree, and for a name
 * that cannot be called.
 */
export function routesIn(tree: object, prefix = '', routes: Record<string, ClientRoute> = {}): ClientRoutes {
  for (const [key, value] of Object.entries(tree)) {
    const name = prefix + key
    if (!value || typeof value !== 'object' || isTaken(key))
      throw new TypeError(`${name} cannot be an operation`)
    const { method, path, options = {} } = value as Partial<RouteValue>
    if (areText(method, path)) {
      routes[name] = [(method as string).split(',')[0] as string, path as string, ...declaredIn(options)]
    } else routesIn(value as object, `${name}.`, routes)
  }
  return routes
}

/** Gives the statuses and errors that a contract's options declare, as a row of the table has them. */
function declaredIn(options: Readonly<Record<string, any>>) {
  const {
    params,
    query,
    headers,
    cookies,
    body,
    response,
    errors,
    mediaType,
    consumes,
    in: sent,
    out,
  } = options
  const codes = Object.entries<{ status: number }>(errors ?? {}).map(
    ([code, { status }]) => `${code} ${status}`,
  )
  // A schema alone is that of 200: the first property of a schema is never a number.
  const isByStatus = !response || /^\d/.test(Object.keys(response)[0]!)
  const replies = Object.entries<any>(isByStatus ? (response ?? {}) : { 200: response })
  return [
    [
      ...replies.map(([status]) => +status),
      ...codes,
      ...(sent ? ['in'] : []),
      ...(out ? ['out'] : []),
      ...((params ?? query ?? headers ?? cookies ?? body) ? ['E_VALIDATION 400'] : []),
    ],
    mediaType ??
      (replies[0] && replies.every(([status, schema]) => status === '204' || isNoText(schema))
        ? 'application/json'
        : undefined),
    [consumes].flat()[0],
  ] as const
}

/** Checks a server's table as far as a call relies on it. */
export function checkRoutes(
  { data, response }: { data: unknown; response?: Response },
  where: string,
): ClientRoutes {
  if (!/^{./.test(JSON.stringify(data)) || !Object.values(data as object).every(isRow))
    throw new ClientError(where, 'no routes: did the API send it?', { response })
  return data as ClientRoutes
}

function isRow(row: unknown): boolean {
  const [method, path, declares = [], mediaType = '', form = ''] = Array.isArray(row)
    ? (row as unknown[])
    : []
  return (
    areText(method, path, mediaType, form) &&
    /^[A-Z-]+$/.test(method as string) &&
    /^\/(?![/\\])/.test(path as string) &&
    Array.isArray(declares) &&
    declares.every((each) => 'string number'.includes(typeof each))
  )
}

export function areText(...values: unknown[]): boolean {
  return values.every((value) => typeof value === 'string')
}
