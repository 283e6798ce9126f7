/** The trailer fields of a reply: set while its body is written, and sent behind it (RFC 9110 §6.5). */
import { VolantError } from '../errors/errors.ts'
import { isTrailer } from '../request/trailers.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import { checkHeaderName, checkHeaderValue } from './header.ts'
import { dropTrailer } from './late-reply.ts'

type Value = string | number | readonly string[]

/** Sets a trailer, and replaces earlier values of the name. Throws `E_BAD_HEADER` and `E_UNSUPPORTED`. */
export function setTrailer(ctx: RequestContext, name: string, value: Value): void {
  const lower = checkHeaderName(name)
  if (!isTrailer(lower)) {
    throw new VolantError(
      'E_BAD_HEADER',
      `the field ${name} may not stand behind a body, where it comes too late (RFC 9110 §6.5.1): set it with ctx.header() before the reply begins`,
    )
  }
  const values = (typeof value === 'object' ? value : [value]).map((each) => checkHeaderValue(name, each))
  if (ctx.phase > ReplyPhase.streaming) return dropTrailer(ctx, name)
  if (ctx.exchange.sendsTrailers === false) {
    throw new VolantError(
      'E_UNSUPPORTED',
      'uWebSockets.js sends no fields behind a body: send what is in them as a part of the body, or use another adapter',
    )
  }
  const { more } = ctx
  const kept = more.replyTrailers ?? []
  for (let at = kept.length - 2; at >= 0; at -= 2) {
    if ((kept[at] as string).toLowerCase() === lower) kept.splice(at, 2)
  }
  for (const each of values) kept.push(name, each)
  more.replyTrailers = kept.length === 0 ? null : kept
}
