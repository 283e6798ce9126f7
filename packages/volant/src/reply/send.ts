/** The one exit for replies: values, streams, files, errors, misses and contracts all leave here. */
import { ContentType } from '@volant/engine'
import { endsStream } from './abort.ts'
import { tellClosing } from './close-stream.ts'
import { VolantError } from '../errors/errors.ts'
import { dropReply, requestName } from './late-reply.ts'
import { feed, pump } from './pump.ts'
import { passHooks } from './send-hooks.ts'
import { Acceptance, isStream, type ReplyContent, type StreamBody } from './source.ts'
import { checkStatus } from './status.ts'
import { beginStream, endStream, leaveWhole, ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'

/** The smallest possible maxBufferedReplies, in bytes. Smaller replies need no check. */
const leastBound = 1_024

/**
 * Replies, unless the client has disconnected. A second reply is reported and dropped; `method` names it. Without
 * `given` the status is the one of `ctx.status`, else 200. A content type that is set as a header replaces `type`.
 */
export function send(
  ctx: RequestContext,
  type: ContentType,
  content: ReplyContent,
  given: number | undefined,
  method: string,
): void {
  const status = given === undefined ? (ctx.statusCode === 0 ? 200 : ctx.statusCode) : checkStatus(given)
  if (ctx.phase > ReplyPhase.reopened || ctx.exchange.aborted)
    return refuse(ctx, type, content, status, method)
  const { sendHooks } = ctx.route
  if (sendHooks === null || ctx.phase === ReplyPhase.reopened) leave(ctx, type, content, status)
  else passHooks(ctx, sendHooks, type, content, status, leave)
}

function refuse(
  ctx: RequestContext,
  type: ContentType,
  content: ReplyContent,
  status: number,
  method: string,
): void {
  if (ctx.exchange.aborted && ctx.phase <= ReplyPhase.reopened) ctx.rare?.unsent?.(type, content, status)
  if (isStream(content)) content.parts.cancel()
  ctx.rare?.session?.abandon()
  dropReply(ctx, method)
}

function leave(ctx: RequestContext, type: ContentType, content: ReplyContent, status: number): void {
  if (isStream(content)) return leaveInParts(ctx, type, content, status)
  if (content instanceof Acceptance || status === 101) return leaveAsSocket(ctx, type, content, status)
  if (content !== null && content.length > leastBound) checkSize(ctx, content)
  if (
    ctx.rare !== undefined &&
    ctx.rare.replyTrailers !== null &&
    !isBodiless(status) &&
    ctx.httpVersion !== '1.0'
  )
    return leaveWithTrailers(ctx, type, content, status)
  leaveWhole(ctx)
  ctx.statusCode = status
  // A 205 has no content (RFC 9110 §15.3.6).
  const body = status === 205 ? null : content
  ctx.exchange.end(status, ctx.hasType ? ContentType.custom : type, ctx.replyHeaders, body)
}

/** Sends a complete reply in chunks, because a reply with Content-Length cannot have trailers. */
function leaveWithTrailers(
  ctx: RequestContext,
  type: ContentType,
  content: string | Uint8Array | null,
  status: number,
): void {
  const { exchange } = ctx
  beginStream(ctx)
  ctx.statusCode = status
  exchange.start(status, ctx.hasType ? ContentType.custom : type, ctx.replyHeaders, -1)
  if (content !== null && content.length > 0) exchange.write(content)
  exchange.finish(false, ctx.rare?.replyTrailers ?? null)
  endStream(ctx)
}

/** Sends 101 and makes a WebSocket of the connection, unless a send hook gave the reply another status. */
function leaveAsSocket(ctx: RequestContext, type: ContentType, content: ReplyContent, status: number): void {
  if (status !== 101) return leave(ctx, type, content instanceof Acceptance ? null : content, status)
  if (!(content instanceof Acceptance)) {
    throw new VolantError(
      'E_BAD_STATUS',
      `an onSend hook set the body of the reply 101 of ${requestName(ctx)}, which has none: set reply.status, too, to refuse the WebSocket`,
    )
  }
  content.check(ctx)
  leaveWhole(ctx)
  ctx.statusCode = status
  // The exchange lives as long as the WebSocket, and must not keep the context.
  ctx.exchange.onAbort = null
  ctx.exchange.onDrain = null
  content.accept(ctx)
}

/** Sends the head at once and the chunks as they come. HEAD and statuses without content cancel the source unread. */
function leaveInParts(ctx: RequestContext, type: ContentType, content: StreamBody, status: number): void {
  const { exchange } = ctx
  const { parts, length } = content
  beginStream(ctx)
  ctx.statusCode = status
  exchange.start(status, ctx.hasType ? ContentType.custom : type, ctx.replyHeaders, length)
  if (ctx.method === 'HEAD' || isBodiless(status)) {
    parts.cancel()
    exchange.finish()
    endStream(ctx)
    return
  }
  ctx.more.cancelStream = () => parts.cancel()
  ctx.watchAbort()
  if (content.mayBeEndless && length < 0) ctx.app.streams.add(ctx)
  if (endsStream(ctx)) tellClosing(ctx)
  if (parts.feed === undefined) void pump(ctx, parts)
  else feed(ctx, (sink) => parts.feed?.(sink))
}

/** True for statuses whose reply has no content. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/**
 * Refuses a reply that is too large to wait as a whole: it would be reset whenever its client does not take it at once.
 */
function checkSize(ctx: RequestContext, body: string | Uint8Array): void {
  const { maxBufferedReplies } = ctx.app.limits
  // A character takes at most three bytes of UTF-8 for its length.
  if (body.length * 3 <= maxBufferedReplies) return
  const length = Buffer.byteLength(body)
  if (length <= maxBufferedReplies) return
  throw new VolantError(
    'E_REPLY_TOO_LARGE',
    `the reply of ${requestName(ctx)} is ${length} bytes long, and maxBufferedReplies is ${maxBufferedReplies}, so 500 was sent in its place: stream it, or raise maxBufferedReplies`,
  )
}
