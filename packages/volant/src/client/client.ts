/** `createClient` gives the calls of an API by name, typed by its routes. */
import { call, type SendOptions } from './send.ts'
import { checkRoutes, routesIn } from './table.ts'
import type { CallOptions, Client, LooseInput } from './types.ts'
import { type ClientRoutes, isTaken } from '../types/client-routes.ts'

/** The options of `createClient`. Options of a single call take precedence. */
export interface ClientOptions extends SendOptions {
  /**
   * The table of operations, or the path that it is fetched from when the first call is made. Default: `/client.json`,
   * where `app.expose` puts it.
   */
  routes?: ClientRoutes | string | undefined
}

/**
 * Makes a client of the API at `url`, which may have a path:
 *
 *     const client = createClient<typeof api>('https://api.example.com')
 *     const reply = await client.users.get({ params: { id: 1 } })
 *     if (reply.ok) console.log(reply.data.name)
 *     else if (reply.code === 'USER_NOT_FOUND') console.log(reply.data.id)
 *
 * Declared replies and errors are results. Any other reply rejects with `ClientError`, an aborted call with the reason
 * of its signal, and a value that cannot be sent or an unknown operation with `TypeError`. With contracts, or with
 * `routes`, the client sends no request of its own. Throws `TypeError` for a `url` that is not http or https, or has a
 * query; a path alone works in pages.
 */
export function createClient<T extends object>(url: string | URL, options?: ClientOptions): Client<T>
// With two type parameters, the compiler explains a mistake in the only given one by the overload above.
export function createClient<T extends object, U extends string | URL>(
  contracts: T,
  url: U,
  options?: ClientOptions,
): Client<T>
export function createClient(first: object | string, second?: unknown, third?: unknown): unknown {
  const isBare = !first || typeof first === 'string' || first instanceof URL
  const given = isBare ? first : second
  const url = String(given)
  const options = ((isBare ? second : third) ?? {}) as ClientOptions
  const { routes = isBare ? '/client.json' : routesIn(first) } = options
  // An address that is a path alone is for pages. A server may load the same module, without calling anything.
  if (given == null || !/^(https?:\/\/[^?#]|(?![^/]*:))[^?#]*$/i.test(url))
    throw new TypeError(`the API's address is like https://host/path, not ${JSON.stringify(url)}`)
  const base = url.replace(/\/+$/, '')
  let table: ClientRoutes | Promise<ClientRoutes> | null = typeof routes === 'string' ? null : routes
  const where = routes as string
  // With its parameter the content type has to match exactly, so that a body without a type, which may never end, is
  // not read.
  const tableRow = ['GET', where, [200], 'application/json; charset=utf-8'] as const
  const find = async (name: string) => {
    const known = await (table ??= call(base, where, () => tableRow, {}, {}, options)
      .then((reply) => checkRoutes(reply, where))
      .catch((error: unknown) => {
        table = null
        throw error
      }))
    if (Object.hasOwn(known, name)) return known[name]!
    throw new TypeError(
      `there is no operation ${name || '()'}; there are ${Object.keys(known).slice(0, 20).join(', ')}`,
    )
  }
  return named('', (name, input = {}, own = {}) =>
    (typeof own === 'function' ? own : call)(
      base,
      name,
      () => find(name),
      input,
      own as CallOptions,
      options,
    ),
  )
}

/** Does something else with an operation than to call it, with the same arguments: `connect` does. */
export type Using = (...args: Parameters<typeof call>) => unknown

type Calling = (name: string, input?: LooseInput, options?: CallOptions | Using) => unknown

/** Every property is the client of a longer name; a call runs the operation of that name. */
function named(name: string, calling: Calling): unknown {
  const inside: Record<string, unknown> = { __proto__: null } as never
  return new Proxy(() => {}, {
    get(_, key) {
      if (typeof key === 'symbol') return undefined
      if (isTaken(key)) return Object.prototype[key as keyof object]
      return (inside[key] ??= named((name && `${name}.${key}`) || key, calling))
    },
    apply: (_, _this, [input, options]: [LooseInput?, CallOptions?]) => calling(name, input, options),
  })
}
