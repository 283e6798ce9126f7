/**
 * Warns at start of routes that collect large bodies from any client, because the check of the client comes after the
 * body.
 */
import { bodyReaderOf, hasDecider, readsBodyLate } from '../dispatch/body-order.ts'
import { alternativesIn, metadataOf } from '../dispatch/declare.ts'
import { printLine } from '../report/print-line.ts'
import { overlap } from '../routing/prefix.ts'
import type { RouteOptions } from '../types/parts.ts'
import type { Layer } from '../types/request.ts'
import type { RouteDefinition } from '../dispatch/route-definition.ts'

/** The most routes that the line names. It says how many others there are. */
const mostNamed = 5

/** Writes the warnings. `usual` is the app's `maxBodySize`, in bytes. */
export function warnOfEarlyBodies(routes: readonly RouteDefinition[], usual: number): void {
  warn(
    routes.filter((route) => isRaised(route, usual) && !hasDecider(route) && isChecked(route)),
    ({ maxBodySize }) => ` (${maxBodySize} bytes)`,
    'the body is read before the middleware that may refuse the request, so that anybody can make the server hold that much. Give the route a beforeBody: the middleware of its scopes then runs before the body is read. A check that is on the route itself goes into beforeBody',
  )
  warn(
    routes.filter((route) => route.bodyMode === 'buffer' && bodyReaderOf(route) !== null),
    () => '',
    'middleware that reads the body, such as validate(), stands in front of the authentication, so that anybody can make the server read a body. Put the authentication in front of it',
  )
  warn(
    routes.filter((route) => takesBody(route) && !readsBodyLate(route) && decidesWithin(route)),
    () => '',
    'procedures have an authentication of their own, which runs when the body is read, so that anybody can make the server read it. Put one in front of the plugin: app.with(bearer(…)).register(…), with required: false where some procedures are open to all',
  )
}

function warn(
  routes: readonly RouteDefinition[],
  more: (route: RouteDefinition) => string,
  what: string,
): void {
  if (routes.length === 0) return
  const named = routes
    .slice(0, mostNamed)
    .map((route) => `${route.method} ${route.pattern}${more(route)}`)
    .join(', ')
  const others = routes.length > mostNamed ? ` and ${routes.length - mostNamed} more` : ''
  printLine(`volant: ${named}${others}: ${what}`)
}

function isRaised({ bodyMode, maxBodySize, value }: RouteDefinition, usual: number): boolean {
  const own = (value.options as RouteOptions | undefined)?.maxBodySize
  return own !== undefined && bodyMode === 'buffer' && maxBodySize > usual
}

function takesBody({ method }: RouteDefinition): boolean {
  return method !== 'GET' && method !== 'HEAD'
}

/** True where a layer inside of the handler decides by the head: that of a procedure. */
function decidesWithin({ handler }: RouteDefinition): boolean {
  return metadataOf(handler).within?.some((layer) => metadataOf(layer).beforeBody === true) === true
}

/**
 * True when a middleware may refuse the request: it declares so, or it belongs to the user and to these routes in
 * particular. Middleware for the whole app often refuses nobody: it measures, or sets headers.
 */
function isChecked({ nodes, pattern, middleware }: RouteDefinition): boolean {
  return (
    middleware.some((layer) => refuses(layer) || isOfUser(layer)) ||
    nodes.some(({ layers }, depth) =>
      layers.some(
        ({ layer, under }) =>
          (refuses(layer) || ((depth > 0 || under !== null) && isOfUser(layer))) &&
          (under === null || overlap(under, pattern, false) !== 'never'),
      ),
    )
  )
}

const refusals: ReadonlySet<number> = new Set([401, 403, 429])

function refuses(layer: Layer): boolean {
  const { errors = {}, security = [] } = metadataOf(layer)
  return (
    alternativesIn(security).some((schemes) => Object.keys(schemes).length > 0) ||
    Object.values(errors).some(({ status }) => refusals.has(status))
  )
}

/**
 * True for middleware of the user. Middleware of this package runs before the handler or not at all, and is not made
 * with `before`.
 */
function isOfUser(layer: Layer): boolean {
  const { gate, skip, isCheck } = metadataOf(layer)
  return isCheck === true || (gate === undefined && skip !== true)
}
