/** Finds the requests that a guard leaves alone. By default these are the probes of the process. */
import { bad } from '../options/bad-option.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'

/** Paths, compared with `ctx.path` as a whole, or a function that returns true for requests to leave alone. */
export type IgnoredRequests = readonly string[] | ((ctx: Context) => boolean)

/** The paths of the plugin `health`. Probes ask them by the address of the process, and without TLS. */
export const probes: readonly string[] = ['/health', '/ready']

export function ignoring(
  name: string,
  given: unknown,
  usual: readonly string[],
): (ctx: RequestContext) => boolean {
  const ignored = given === undefined ? usual : given
  if (typeof ignored === 'function') return (ctx) => (ignored as Function)(ctx) === true
  const wanted = "paths such as ['/health'], or a function that returns true for requests to leave alone"
  if (!Array.isArray(ignored)) throw bad(name, ignored, wanted)
  for (const path of ignored as readonly unknown[]) {
    if (typeof path !== 'string' || !path.startsWith('/')) throw bad(name, path, wanted)
  }
  const paths = new Set<string>(ignored as readonly string[])
  return (ctx) => paths.has(ctx.path)
}
