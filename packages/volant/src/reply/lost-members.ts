/** Replies that lose something as JSON: a promise that was not awaited, a Map and the like become `{}`. */
import { lostMember } from '../errors/json-fault.ts'
import { nameOf } from './late-reply.ts'
import { printLine } from '../report/print-line.ts'
import type { CompiledRoute, RequestContext } from '../types/request.ts'

/** At the start: nobody looks at replies in production, where that would cost time. */
export const isDevelopment = process.env['NODE_ENV'] !== 'production'

const seen = new WeakSet<CompiledRoute>()

/** Says, once for a route, of which member of `value` JSON made `{}`. */
export function warnOfLoss(ctx: RequestContext, value: unknown): void {
  if (seen.has(ctx.route) || typeof value !== 'object' || value === null) return
  const lost = lostMemberOf(value)
  if (lost === null) return
  seen.add(ctx.route)
  printLine(
    `volant: the reply of ${nameOf(ctx)} has {}${lost}. This is said once for a route, and not in production.`,
  )
}

/** Null as well where a getter or toJSON fails when it is asked again. */
function lostMemberOf(value: object): string | null {
  try {
    return lostMember(value)
  } catch {
    return null
  }
}
