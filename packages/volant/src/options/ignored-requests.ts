/** Finds the requests that a middleware leaves alone. By default these are often the probes of the process. */
import type { Context } from '../types/context.ts'
import type { ResponseInfo } from '../types/declaration.ts'
import type { RequestContext } from '../types/request.ts'
import { checkEach, checkText } from './checks.ts'

/** Paths, compared with `ctx.path` as a whole, or a function that returns true for requests to leave alone. */
export type IgnoredRequests = readonly string[] | ((ctx: Context) => boolean)

/** The paths of the plugin `health`. Probes ask them by the address of the process, and without TLS. */
export const probes: readonly string[] = ['/health', '/ready']

/** Reads the option `name`. A function gets the outcome, too, where it is known. Throws `E_BAD_OPTION`. */
export function ignoring(
  name: string,
  given: unknown,
): (ctx: RequestContext, info?: ResponseInfo) => boolean {
  if (typeof given === 'function') return (ctx, info) => (given as Function)(ctx, info) === true
  const wanted = "paths such as ['/health'], or a function that returns true for requests to leave alone"
  const paths = new Set(checkEach(name, given, wanted, (_, path) => checkText(name, path, /^\//, wanted)))
  return (ctx) => paths.has(ctx.path)
}
