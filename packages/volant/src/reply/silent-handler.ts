/** Warns of handlers that do not reply: usually a `return` was forgotten, or a callback replies later. */
import { requestName } from './late-reply.ts'
import { printLine } from '../report/print-line.ts'
import type { CompiledRoute, RequestContext } from '../types/request.ts'

const seen = new WeakSet<CompiledRoute>()

/** Warns in development, once for a route, that its handler returned nothing and that 204 is sent. */
export function warnOfSilence(ctx: RequestContext): void {
  const { route, method, exchange } = ctx
  if (seen.has(route) || route.pattern === null || exchange.aborted) return
  // HEAD and OPTIONS are answered by headers alone.
  if (method === 'HEAD' || method === 'OPTIONS') return
  seen.add(route)
  if (process.env['NODE_ENV'] === 'production') return
  printLine(
    `volant: the handler of ${requestName(ctx)} returned nothing, so 204 was sent. ${ctx.bodyAssigned ? assigned : forgotten}; for an empty reply write return null or ctx.reply(204). This is said once for a route, and not in production.`,
  )
}

const forgotten = 'Return the reply, and return or await what the handler starts'
/** Handlers in Koa assign their reply to ctx.body. */
const assigned = 'ctx.body is the body of the request, and what is assigned to it is not sent: return it'
