/** The REST door: procedures as routes with contracts, like any other. */
import { bag } from '@volant/engine'
import { bad } from '../../options/bad-option.ts'
import { before } from '../../dispatch/declare.ts'
import { checkNames } from '../../options/checks.ts'
import { printLine } from '../../report/print-line.ts'
import { decide, undecided } from '../../contract/lazy-responses.ts'
import { parsePattern } from '../../routing/router.ts'
import { isVoid, madeOfNothing } from '../../schema/is-void.ts'
import type { Plugin, Scope } from '../../app/scope.ts'
import { isThenable } from '../../types/thenable.ts'
import type { Responses, Route, RouteOptions } from '../../types/parts.ts'
import { CallContext } from '../call-context.ts'
import { unlessError } from '../definition.ts'
import { refuseValue } from '../output.ts'
import { type Placed, proceduresOf } from '../router.ts'
import type { Router } from '../types.ts'
import type { RestAPI } from './api-types.ts'
import { RestInput } from './input.ts'
import { type RestRoute, restRoutes, suspicionOf } from './naming.ts'
import type { RequestContext } from '../../types/request.ts'

/** Options of `rest`. */
export interface RestDoorOptions<P extends string = string> {
  /** In front of all paths; default none. */
  prefix?: P | undefined
}

/** The plugin that `rest` makes. */
// oxlint-disable-next-line typescript/no-explicit-any -- it fits every scope
export interface RestDoor<R extends Router, P extends string> extends Plugin<void, Scope<any>> {
  /** Its routes by the names of their procedures: `app.expose(door.api)`, `createClient<typeof door.api>(url)`. */
  readonly api: RestAPI<R, P>
}

/**
 * A plugin: `app.register(rest(router, { prefix: '/api' }))` serves procedures by their names and those of their
 * routers:
 *
 * | name | route |
 * |---|---|
 * | `users.getUser` | GET /users/:id; GET /users if it has no input |
 * | `users.listUsers`, `users.findUsers` | GET /users |
 * | `users.createUser`, `users.addUser` | POST /users, 201 |
 * | `users.updateUser`, `users.editUser` | PUT /users/:id |
 * | `users.patchUser` | PATCH /users/:id |
 * | `users.deleteUser`, `users.removeUser` | DELETE /users/:id |
 * | `posts.comments.getComment` | GET /posts/:postId/comments/:id |
 *
 * `.rest({ method, path, status })` says it otherwise; a procedure with another name and without that, and a
 * subscription, is not reached. Names that look like a mistake, `creatUser` or a query `createUser`, are told once on
 * stderr. Members of the input that the path does not have are in the query for GET and DELETE,
 * else in the body. Where the input's JSON Schema says number, boolean or array, text of path and query is read as
 * that. A query without anything in it is no input, if there need not be one. A procedure that gives undefined replies
 * 204. Throws `E_ROUTE_CONFLICT` for two procedures in one place, naming both, and `E_BAD_OPTION` for one whose input
 * lacks a parameter of its path, as far as its schema shows that.
 */
export function rest<R extends Router, const P extends string = ''>(
  router: R,
  options: RestDoorOptions<P> = {},
): RestDoor<R, P> {
  const procedures = [...proceduresOf(router).values()]
  const served = new Map(restRoutes(procedures))
  checkNames('rest', options, ['prefix'])
  const { prefix = '' as P } = options
  if (typeof prefix !== 'string' || (prefix !== '' && !prefix.startsWith('/'))) {
    throw bad('rest.prefix', prefix, 'a path such as /api')
  }
  const routes = [...served].map(([placed, place]) => routeOf(placed, place, prefix.replace(/\/$/, '')))
  const doubts = procedures.flatMap((placed) => {
    const why = served.has(placed) ? null : suspicionOf(placed)
    return why === null ? [] : [`${placed.path} (${why})`]
  })
  const plugin = (scope: Scope<any>): void => {
    if (doubts.length > 0 && !noticed.has(router)) {
      printLine(
        `volant: no REST route for ${doubts.join(', ')}: say where with .rest({ method, path }), or .rest(false) for none`,
      )
    }
    noticed.add(router)
    const implement = scope.implement as (route: Route, ...layers: unknown[]) => unknown
    for (const { route, layers } of routes) implement(route, ...layers)
  }
  return Object.assign(plugin, { api: treeOf(routes) }) as RestDoor<R, P>
}

/** Routers whose procedures without a route were told of. */
const noticed = new WeakSet<Router>()

interface DoorRoute {
  readonly names: readonly string[]
  readonly route: Route
  /** The handler last. */
  readonly layers: readonly unknown[]
}

function routeOf(placed: Placed, place: RestRoute, base: string): DoorRoute {
  const { input: schema, security } = placed.procedure
  const path = base + place.path
  const isQuery = place.method === 'GET' || place.method === 'DELETE'
  const input =
    schema === null ? null : new RestInput(schema, parsePattern(path).names, isQuery ? 'query' : 'body')
  const responses = responsesOf(placed, place)
  const options: RouteOptions = {
    ...optionsOf(placed),
    ...(responses !== undefined && { response: responses }),
    ...input?.schemas(),
  }
  const declared = security.map((each) => before({ security: each }, () => {}))
  return {
    names: placed.names,
    route: Object.freeze({ method: place.method, path, options }),
    layers: [...declared, handlerOf(placed, place, input, responses)],
  }
}

/** The routes under the names of their procedures. */
function treeOf(routes: readonly DoorRoute[]): object {
  const root = bag()
  for (const { names, route } of routes) {
    let at = root
    for (const name of names.slice(0, -1)) at = (at[name] ??= bag()) as Record<string, unknown>
    at[names.at(-1) as string] = route
  }
  return root
}

function responsesOf(
  { procedure: { output, isEmpty } }: Placed,
  { status }: RestRoute,
): Responses | undefined {
  if (status === 204 || isEmpty) return { 204: null }
  if (output === null) return undefined
  if (isVoid(output)) return { 204: null }
  return undecided({ [status === 0 ? 200 : status]: output }, () => {
    const nothing = madeOfNothing(output)
    return nothing !== null && nothing.value === undefined
  })
}

function optionsOf({ path, names, procedure }: Placed): RouteOptions {
  const { info } = procedure
  return {
    operationId: path,
    ...(names.length > 1 && { tags: [names.slice(0, -1).join('.')] }),
    ...info,
    errors: Object.fromEntries(
      [...procedure.errors].map(([code, declared]) => [
        code,
        { status: declared.status, description: declared.description, data: declared.data },
      ]),
    ),
  }
}

/** The output is checked where the route checks what it replies with. */
function handlerOf(
  placed: Placed,
  { status }: RestRoute,
  input: RestInput | null,
  responses: Responses | undefined,
): (ctx: RequestContext) => unknown {
  const { path } = placed
  const { perform, output, isEmpty } = placed.procedure
  const nothingOf = (declared: Responses): unknown => {
    if (output === null || decide(declared)[204] === null) return undefined
    return madeOfNothing(output)?.value
  }
  const isNothing = output !== null && isVoid(output)
  const conclude = (ctx: RequestContext, value: unknown): unknown => {
    unlessError(value)
    if (isEmpty) return refuseValue(path, value)
    if (isNothing) return refuseValue(path, value, 'an output of nothing')
    if (status === 204) return undefined
    const given = value === undefined && responses !== undefined ? nothingOf(responses) : value
    if (status !== 0 && given !== undefined) ctx.status(status)
    return given
  }
  return (ctx) => {
    const call = new CallContext(ctx, placed, input?.of(ctx))
    call.partOf = input === null ? null : input.partOf
    const value = perform(call)
    return isThenable(value) ? value.then((given) => conclude(ctx, given)) : conclude(ctx, value)
  }
}
