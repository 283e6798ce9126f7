/** Warns of replies that lose data as JSON: a promise that was not awaited, a Map and the like become `{}`. */
import { lostMember } from '../errors/json-fault.ts'
import { requestName } from './late-reply.ts'
import { printLine } from '../report/print-line.ts'
import type { CompiledRoute, RequestContext } from '../types/request.ts'

/** This is decided at the start: in production looking at replies would only cost time. */
export const isDevelopment = process.env['NODE_ENV'] !== 'production'

const seen = new WeakSet<CompiledRoute>()

/** Names, once for a route, the member of `value` of which JSON made `{}`. */
export function warnOfLoss(ctx: RequestContext, value: unknown): void {
  if (seen.has(ctx.route) || typeof value !== 'object' || value === null) return
  const lost = lostMemberOf(value)
  if (lost === null) return
  seen.add(ctx.route)
  printLine(
    `volant: the reply of ${requestName(ctx)} has {}${lost}. This is said once for a route, and not in production.`,
  )
}

/** Gives the lost member, or null; also where a getter or toJSON fails at the second call. */
function lostMemberOf(value: object): string | null {
  try {
    return lostMember(value)
  } catch {
    return null
  }
}
