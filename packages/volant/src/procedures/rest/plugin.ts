/** Makes REST routes of procedures, with contracts like any other route. */
import { attach, metadataOf } from '../../dispatch/declare.ts'
import { checkNames, checkText } from '../../options/checks.ts'
import { printLine } from '../../report/print-line.ts'
import { decide, undecided } from '../../contract/lazy-responses.ts'
import { madeOfNothing } from '../../schema/result.ts'
import { isVoid } from '../../schema/vendors/vendor-of.ts'
import type { Plugin, Scope } from '../../app/scope.ts'
import { isThenable } from '../../types/thenable.ts'
import type { Responses, Route, RouteOptions } from '../../types/parts.ts'
import { CallContext } from '../call-context.ts'
import { type ProcedureDefinition, unlessError } from '../definition.ts'
import { refuseValue } from '../output.ts'
import { namedTree, type Placed, proceduresOf } from '../router.ts'
import type { Router } from '../types.ts'
import type { RestAPI } from './api-types.ts'
import { RestInput } from './input.ts'
import { type RestRoute, restRoutes, suspicionOf } from './naming.ts'
import type { Layer, RequestContext } from '../../types/request.ts'
import { parsePattern } from '../../routing/path.ts'

/** The options of `rest`. */
export interface RestPluginOptions<P extends string = string> {
  /** The path in front of all routes; default none. */
  prefix?: P | undefined
}

/** The plugin that `rest` makes. */
// oxlint-disable-next-line typescript/no-explicit-any -- it fits every scope
export interface RestPlugin<R extends Router, P extends string> extends Plugin<void, Scope<any>> {
  /** The routes by the names of their procedures: `app.expose(routes.api)`, `createClient<typeof routes.api>(url)`. */
  readonly api: RestAPI<R, P>
}

/**
 * A plugin: `app.register(rest(router, { prefix: '/api' }))` makes a route from the name of each procedure and those of
 * its routers:
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
 * `.rest({ method, path, status })` sets another route. A procedure with another name and without a path there has no
 * route, and neither has a subscription. A name with the verb of another kind of procedure, such as a query
 * `createUser`, is named once on stderr. Members of the input that are not in the path are in the query for GET and
 * DELETE, and in the body otherwise. Text of path and query becomes a number, a boolean or an array where the input's
 * JSON Schema asks for that. An empty query is no input where the schema accepts none. A procedure that returns
 * undefined replies 204. Throws `E_ROUTE_CONFLICT` for two procedures with one route, naming both, and `E_BAD_OPTION`
 * for an input without a parameter of its path, as far as its schema shows that.
 */
export function rest<R extends Router, const P extends string = ''>(
  router: R,
  options: RestPluginOptions<P> = {},
): RestPlugin<R, P> {
  const procedures = [...proceduresOf(router).values()]
  const served = new Map(restRoutes(procedures))
  checkNames('rest', options, ['prefix'])
  const { prefix = '' as P } = options
  checkText('rest.prefix', prefix, /^(?:\/|$)/, 'a path such as /api')
  const base = prefix.replace(/\/$/, '')
  const routes = new Map([...served].map(([placed, route]) => [placed, routeOf(placed, route, base)]))
  const suspicious = procedures.flatMap((placed) => {
    const why = served.has(placed) ? null : suspicionOf(placed)
    return why === null ? [] : [`${placed.path} (${why})`]
  })
  const plugin = (scope: Scope<any>): void => {
    if (suspicious.length > 0 && !noticed.has(router)) {
      printLine(
        `volant: no REST route for ${suspicious.join(', ')}: say where with .rest({ method, path }), or .rest(false) for none`,
      )
    }
    noticed.add(router)
    const implement = scope.implement as (route: Route, ...layers: unknown[]) => unknown
    for (const { route, layers } of routes.values()) implement(route, ...layers)
  }
  const api = namedTree([...routes.keys()], (placed) => routes.get(placed)?.route)
  return Object.assign(plugin, { api }) as RestPlugin<R, P>
}

/** The routers whose suspicious names were printed. */
const noticed = new WeakSet<Router>()

/** Gives a route and its functions, of which the last is the handler. */
function routeOf(placed: Placed, { method, path: own, status }: RestRoute, base: string) {
  const { input: schema, layers: within } = placed.procedure
  const path = base + own
  const others = method === 'GET' || method === 'DELETE' ? 'query' : 'body'
  const input = schema === null ? null : new RestInput(schema, parsePattern(path).names, others)
  const responses = responsesOf(placed.procedure, status)
  const options: RouteOptions = {
    ...documentOf(placed),
    ...(responses !== undefined && { response: responses }),
    ...input?.schemas(),
  }
  const declared = within.map(declarationOf)
  const route: Route = Object.freeze({ method, path, options })
  const handler = attach(handlerOf(placed, status, input, responses), { within })
  return { route, layers: [...declared, handler] as unknown[] }
}

/** Gives a layer that declares what another one does, which runs inside of the procedure. */
function declarationOf(layer: object): Layer {
  const { errors, security, scopes } = metadataOf(layer)
  return attach<Layer>((_, next) => next(), { errors, security, scopes, skip: true })
}

function responsesOf({ output, isEmpty }: ProcedureDefinition, status: number): Responses | undefined {
  if (status === 204 || isEmpty) return { 204: null }
  if (output === null) return undefined
  if (isVoid(output)) return { 204: null }
  return undecided({ [status === 0 ? 200 : status]: output }, () => {
    const nothing = madeOfNothing(output)
    return nothing !== null && nothing.value === undefined
  })
}

function documentOf({ path, names, procedure: { info, ownErrors } }: Placed): RouteOptions {
  return {
    operationId: path,
    ...(names.length > 1 && { tags: [names.slice(0, -1).join('.')] }),
    ...info,
    errors: ownErrors,
  }
}

/** Runs the procedure. Its output is checked by the route, as every declared reply is. */
function handlerOf(
  placed: Placed,
  status: number,
  input: RestInput | null,
  responses: Responses | undefined,
): (ctx: RequestContext) => unknown {
  const { perform, output, isEmpty } = placed.procedure
  const empty = isEmpty ? 'output(null)' : output !== null && isVoid(output) ? 'an output of nothing' : null
  // An output schema may make a value of undefined: only a route without 204 needs that value.
  const madeByOutput = (): unknown => {
    if (output === null || responses === undefined || decide(responses)[204] === null) return undefined
    return madeOfNothing(output)?.value
  }
  const conclude = (ctx: RequestContext, value: unknown): unknown => {
    unlessError(value)
    if (empty !== null) return refuseValue(placed.path, value, empty)
    if (status === 204) return undefined
    const given = value === undefined ? madeByOutput() : value
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
