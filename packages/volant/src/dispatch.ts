/** One request: a context, the route's chain, its reply. */
import type { Exchange } from '@volant/engine'
import { conclude } from './chain.ts'
import { RequestContext } from './context.ts'
import type { CompiledRoute, Core } from './core.ts'
import { fail } from './failure.ts'
import { isThenable } from './thenable.ts'

/** Runs `route` for `exchange` in the exchange's own async context. Never throws, never rejects. */
export function dispatch(core: Core, exchange: Exchange, route: CompiledRoute, allow: number): void {
  exchange.runInAsyncScope(enter, undefined, new RequestContext(exchange, core, route, allow))
}

function enter(ctx: RequestContext): void {
  try {
    const value = ctx.route.run(ctx)
    if (isThenable(value)) void settle(ctx, value)
    else conclude(ctx, value)
  } catch (error) {
    fail(ctx, error)
  }
}

async function settle(ctx: RequestContext, promise: PromiseLike<unknown>): Promise<void> {
  try {
    conclude(ctx, await promise)
  } catch (error) {
    fail(ctx, error)
  }
}
