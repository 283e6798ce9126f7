/** The REST door: procedures as routes with contracts, like any other. */
import type { RequestContext } from '../../context.ts'
import { bad } from '../../limits.ts'
import { before } from '../../middleware.ts'
import { checkNames } from '../../middleware/option-check.ts'
import { parsePattern } from '../../router.ts'
import type { Scope } from '../../scope.ts'
import { isThenable } from '../../thenable.ts'
import type { Plugin, Responses, RouteOptions } from '../../types.ts'
import { CallContext } from '../call-context.ts'
import { CallState } from '../definition.ts'
import { type Placed, proceduresOf } from '../router.ts'
import type { Router } from '../types.ts'
import { RestInput } from './input.ts'
import { type RestPlace, restPlaces } from './naming.ts'

/** Options of `rest`. */
export interface RestDoorOptions {
  /** In front of all paths; default none. */
  prefix?: string | undefined
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
 * subscription, is not reached. Members of the input that the path does not have are in the query for GET and DELETE,
 * else in the body. Where the input's JSON Schema says number, boolean or array, text of path and query is read as
 * that. Throws `E_ROUTE_CONFLICT` for two procedures in one place, naming both.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- it fits every scope
export function rest(router: Router, options: RestDoorOptions = {}): Plugin<void, Scope<any>> {
  const places = restPlaces([...proceduresOf(router).values()])
  checkNames('rest', options, ['prefix'])
  const { prefix = '' } = options
  if (typeof prefix !== 'string' || (prefix !== '' && !prefix.startsWith('/'))) {
    throw bad('rest.prefix', prefix, 'a path such as /api')
  }
  const base = prefix.replace(/\/$/, '')
  return (scope) => {
    for (const [placed, place] of places) {
      const params = parsePattern(base + place.path).names
      const { input: schema, security } = placed.procedure
      const input =
        schema === null
          ? null
          : new RestInput(
              schema,
              params,
              place.method === 'GET' || place.method === 'DELETE' ? 'query' : 'body',
            )
      const route: RouteOptions = { ...optionsOf(placed, place), ...input?.schemas() }
      const layers = Object.keys(security).length === 0 ? [] : [before({ security }, () => {})]
      const register = scope.on as (...route: unknown[]) => unknown
      register([place.method], base + place.path, route, ...layers, handlerOf(placed, place, input))
    }
  }
}

function optionsOf({ path, names, procedure }: Placed, { status }: RestPlace): RouteOptions {
  const { info, output } = procedure
  const responses: Responses | undefined =
    status === 204 ? { 204: null } : output === null ? undefined : { [status === 0 ? 200 : status]: output }
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
    ...(responses !== undefined && { response: responses }),
  }
}

/** The output is checked where the route checks what it replies with. */
function handlerOf(
  { path, procedure }: Placed,
  { status }: RestPlace,
  input: RestInput | null,
): (ctx: RequestContext) => unknown {
  const { perform, errors } = procedure
  const partOf = input === null ? null : (name: string | undefined) => input.partOf(name)
  const conclude = (ctx: RequestContext, value: unknown): unknown => {
    if (status === 204) return undefined
    if (status !== 0 && value !== undefined) ctx.status(status)
    return value
  }
  return (ctx) => {
    const call = new CallState(
      input === null ? undefined : input.of(ctx),
      new CallContext(ctx, errors, path),
      path,
    )
    call.partOf = partOf
    const value = perform(call)
    return isThenable(value) ? value.then((given) => conclude(ctx, given)) : conclude(ctx, value)
  }
}
