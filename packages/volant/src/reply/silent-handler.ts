/** Handlers that give no reply: usually a `return` was forgotten, or a callback replies later. */
import { requestName } from './late-reply.ts'
import { printLine } from '../report/print-line.ts'
import type { CompiledRoute, RequestContext } from '../types/request.ts'

const seen = new WeakSet<CompiledRoute>()

/** Says in development, once for a route, that its handler returned nothing and 204 is sent for that. */
export function warnOfSilence(ctx: RequestContext): void {
  const { route, method, exchange } = ctx
  if (seen.has(route) || route.pattern === null || exchange.aborted) return
  // The replies to these are in their headers.
  if (method === 'HEAD' || method === 'OPTIONS') return
  seen.add(route)
  if (process.env['NODE_ENV'] === 'production') return
  printLine(
    `volant: the handler of ${requestName(ctx)} returned nothing, so 204 was sent. ${ctx.bodyAssigned ? assigned : forgotten}; for an empty reply write return null or ctx.reply(204). This is said once for a route, and not in production.`,
  )
}

const forgotten = 'Return the reply, and return or await what the handler starts'
/** The habit of Koa. */
const assigned = 'ctx.body is the body of the request, and what is assigned to it is not sent: return it'
