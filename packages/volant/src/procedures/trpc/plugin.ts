/** Serves procedures over the HTTP protocol of tRPC 11. */
import { attach } from '../../dispatch/declare.ts'
import { defaultsOf, type Plugin, type Scope } from '../../app/scope.ts'
import type { RouteOptions } from '../../types/parts.ts'
import { type Served, served } from '../output.ts'
import { proceduresOf } from '../router.ts'
import type { Router } from '../types.ts'
import { batch } from './batch.ts'
import { noProcedure } from './call.ts'
import { settingsOf, type TRPCOptions } from './options.ts'
import { replyError } from './reply.ts'
import { isBatch } from './request.ts'
import { single } from './single.ts'
import type { RequestContext } from '../../types/request.ts'

/**
 * A plugin: `app.register(trpc(router))` serves the procedures of `router` to tRPC clients at `/trpc`.
 *
 * Queries are GET, mutations are POST with application/json, subscriptions are server-sent events. A batch has at most
 * `maxBatchSize` calls. Each procedure has a route of its own, so that metrics and logs show them separately; batches
 * share one. All errors under the prefix have tRPC's shape, also those of the app's middleware, for which the app's
 * `onError` does not run. A declared error has its code and data in `data.error`. Throws `E_BAD_OPTION`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- it fits every scope
export function trpc(router: Router, options: TRPCOptions = {}): Plugin<void, Scope<any>> {
  const placed = proceduresOf(router)
  const settings = settingsOf(options)
  return (scope) => {
    const { undeclaredProperties } = defaultsOf(scope)
    const procedures = new Map([...placed].map(([path, each]) => [path, served(each, undeclaredProperties)]))
    // The group also gets the requests below its prefix that match no route.
    if (/^\/?$/.test(settings.prefix)) serve(scope)
    else {
      scope.group(settings.prefix, (inside) => {
        inside.onNotFound((ctx) => ask(ctx as unknown as RequestContext, '', undefined))
        serve(inside)
      })
    }

    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    function serve(inside: Scope<any>): void {
      const hidden: RouteOptions = { hidden: true }
      // This takes errors before a procedure runs: the app's middleware, time limits, other methods, a malformed query.
      inside.onError((error, ctx) => replyError(ctx as unknown as RequestContext, error, null, settings))
      for (const each of procedures.values()) {
        const handler = (ctx: unknown): unknown => ask(ctx as RequestContext, each.path, each)
        const within = each.procedure.layers
        inside.on(['GET', 'POST'], `/${each.path}`, hidden, attach(handler, { within }))
      }
      // This route takes batches, escaped paths, a trailing slash, and names without a procedure.
      inside.on(['GET', 'POST'], '/*', hidden, (ctx) => {
        const rest = (ctx.params as Record<string, string>)['*'] as string
        const path = rest.endsWith('/') ? rest.slice(0, -1) : rest
        return ask(ctx as unknown as RequestContext, path, procedures.get(path))
      })
    }

    function ask(ctx: RequestContext, path: string, each: Served | undefined): unknown {
      if (ctx.method === 'HEAD') return undefined
      if (isBatch(ctx)) return batch(ctx, path, procedures, settings)
      if (each !== undefined) return single(ctx, each, settings)
      return replyError(ctx, noProcedure(path), { path }, settings)
    }
  }
}
