/** Where operations are: method, path and what they reply with, by name. */
import { ClientError } from './error.ts'

/**
 * Method and path of an operation, and what it declares: its statuses, and its errors as `NOT_FOUND 404`. Without a
 * status among them any from 200 to 299 is a success; where they are left out every problem with a code is an error,
 * too. Replies of a status that is declared are JSON or plain text, or of the media type: that of JSON is where none of
 * them is text, and for all types of JSON but problems.
 */
export type ClientRoute = readonly [
  method: string,
  path: string,
  declares?: readonly (number | string)[] | undefined,
  mediaType?: string | undefined,
]

/** Operations by name: what a server gives at `/client.json`, and generated files hold. */
export type ClientRoutes = Readonly<Record<string, ClientRoute>>

/** What a contract says at run time. */
interface RouteValue {
  readonly method: string
  readonly path: string
  readonly options?: unknown
}

/** The routes of a tree by their place in it. Throws `TypeError` for what is none, and for a name nobody can call. */
export function routesIn(tree: object): ClientRoutes {
  const routes: Record<string, ClientRoute> = {}
  collect(tree, '', routes)
  return routes
}

function collect(tree: object, prefix: string, routes: Record<string, ClientRoute>): void {
  for (const [key, value] of Object.entries(tree)) {
    const name = prefix + key
    const { method, path } = (value ?? {}) as Partial<RouteValue>
    if (typeof value !== 'object' || value === null || isTaken(key)) {
      throw new TypeError(`${name} cannot be an operation`)
    }
    if (typeof method === 'string' && typeof path === 'string') {
      routes[name] = [method.split(',')[0] as string, path, ...declaredIn(value.options ?? {})]
    } else collect(value, `${name}.`, routes)
  }
}

/** What a contract's options declare. */
function declaredIn({ response, errors, mediaType, ...rest }: Readonly<Record<string, any>>) {
  const schemas = ['params', 'query', 'headers', 'cookies', 'body'].some((part) => rest[part] !== undefined)
  const codes = Object.entries<{ status: number }>(errors ?? {}).map(
    ([code, { status }]) => `${code} ${status}`,
  )
  const replies = Object.entries<any>(byStatus(response))
  return [
    [...replies.map(([status]) => +status), ...codes, ...(schemas ? ['E_VALIDATION 400'] : [])],
    mediaType ??
      (replies[0] && replies.every(([status, schema]) => status === '204' || isNoText(schema))
        ? 'application/json'
        : undefined),
  ] as const
}

/** A schema alone is that of 200: no schema has a number for its first name. */
function byStatus(response: any): Readonly<Record<number, any>> {
  return !response || /^\d/.test(Object.keys(response)[0]!) ? (response ?? {}) : { 200: response }
}

/** Plain JSON Schema and Zod say so; of other libraries only a server can tell, which has their JSON Schema. */
export function isNoText(schema: { type?: unknown; '~standard'?: { vendor: string } } | null): boolean {
  return /^(object|array) (zod|undefined)$/.test(`${schema?.type} ${schema?.['~standard']?.vendor}`)
}

/** What no operation can be named: `await` asks for `then`, `JSON.stringify` for `toJSON`; dots part names. */
export function isTaken(name: string): boolean {
  return /^(then|toJSON|)$|\./.test(name) || name in Object.prototype
}

/** What a server gave, checked as far as a call relies on it. */
export function checkRoutes(given: unknown, where: string): ClientRoutes {
  if (!given || typeof given !== 'object' || Array.isArray(given) || !Object.values(given).every(isRow))
    throw new ClientError(where, 'it is none: is this the address of the API?')
  return given as ClientRoutes
}

function isRow(row: unknown): boolean {
  if (!Array.isArray(row)) return false
  const [method, path, declares = [], mediaType = ''] = row as unknown[]
  return (
    [method, path, mediaType].every((text) => typeof text === 'string') &&
    /^[A-Z-]+$/.test(method as string) &&
    /^\/(?![/\\])/.test(path as string) &&
    Array.isArray(declares) &&
    declares.every((each) => typeof each === 'string' || typeof each === 'number')
  )
}
