/** Writes early hints: what the reply will need, sent while the handler works (RFC 8297). */
import type { Hints } from '../types/reply-options.ts'
import { VolantError } from '../errors/errors.ts'
import { checkHeaderName, checkHeaderValue } from './header.ts'
import { dropReply } from './late-reply.ts'
import type { RequestContext } from '../types/request.ts'

export function sendHints(ctx: RequestContext, headers: Hints): void {
  if (ctx.replied) return dropReply(ctx, 'earlyHints')
  const list = flatten(headers)
  if (ctx.exchange.aborted) return
  if (list.length > 0) ctx.exchange.inform(103, list)
}

function flatten(headers: Hints): string[] {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw new VolantError(
      'E_BAD_HEADER',
      "earlyHints takes an object: { link: '</a.css>; rel=preload; as=style' }",
    )
  }
  const list: string[] = []
  for (const [name, given] of Object.entries(headers)) {
    checkHeaderName(name)
    const values = Array.isArray(given) ? (given as readonly string[]) : [given as string]
    for (const value of values) list.push(name, checkHeaderValue(name, value))
  }
  return list
}
