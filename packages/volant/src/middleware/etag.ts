/** `etag()` tags replies by their content, and answers a client that has the content with 304 (RFC 9110 §8.8.3, §13). */
import { createHash, hash } from 'node:crypto'
import { refusal } from '../errors/errors.ts'
import { checkConditions } from '../reply/conditional.ts'
import { parseHttpDate } from '../reply/http-date.ts'
import { sender } from '../dispatch/declare.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { OutgoingHeaders } from '../types/send-hook.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkFlag, checkNames } from '../options/checks.ts'
import type { RequestContext } from '../types/request.ts'

/** The options of `etag`. */
export interface EtagOptions {
  /**
   * True makes weak tags, which say that two contents mean the same, not that their bytes are equal. A client cannot
   * use them in If-Match. Default false.
   */
  weak?: boolean | undefined
}

/**
 * Tags replies, and evaluates the conditions of requests (RFC 9110 §13.2.2):
 *
 *     app.use(etag())
 *
 * A reply to GET or HEAD with status 200 whose body is text or bytes gets an ETag, unless it has one or its
 * Cache-Control says `no-store`. The tag is made of content type and content. A stream has no tag unless the handler
 * sets one; files have their own. Where the reply has ETag or Last-Modified, also a stream's, a client that has it gets
 * 304 and the source is cancelled, and one whose If-Match or If-Unmodified-Since fails gets 412 (`E_PRECONDITION`).
 * The handler runs in any case.
 *
 * Throws `E_BAD_OPTION`.
 */
export function etag(options: EtagOptions = {}): FittingMiddleware {
  checkNames('etag', options, ['weak'], foreignNames.etag)
  const prefix = checkFlag('etag: weak', options.weak, false) ? 'W/"' : '"'
  return sender((ctx, reply) => {
    if (reply.status !== 200 || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return
    const { body, headers } = reply
    let tag = headers.get('etag')
    if (tag === undefined && isWhole(body) && !isSecret(headers)) {
      tag = `${prefix}${digest(headers.get('content-type') ?? '', body)}"`
      headers.set('etag', tag)
    }
    const date = headers.get('last-modified')
    if (tag === undefined && date === undefined) return
    const modified = (date === undefined ? null : parseHttpDate(date)) ?? NaN
    const { exchange } = ctx as unknown as RequestContext
    const verdict = checkConditions(exchange, { etag: tag ?? '', modified })
    if (verdict === 'failed') throw refusal('E_PRECONDITION')
    if (verdict === 'send') return
    reply.status = 304
    reply.body = null
    for (const name of ofContent) headers.delete(name)
    // A cache looks for a copy with this very tag (RFC 9111 §4.3.4), which compression may have made weak.
    if (tag !== undefined && exchange.header('if-none-match')?.includes(`W/${tag}`))
      headers.set('etag', `W/${tag}`)
  })
}

/** The headers of a 304 are those that guide caches, and those that do not describe content (RFC 9110 §15.4.5). */
const ofContent = [
  'content-type',
  'content-encoding',
  'content-language',
  'content-range',
  'content-disposition',
  'content-digest',
  'repr-digest',
]

function isWhole(body: unknown): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

/** True where nobody may keep the reply (RFC 9111 §5.2.2.5), so that no client would ever ask by the tag. */
function isSecret(headers: OutgoingHeaders): boolean {
  return /(?:^|,)\s*no-store\s*(?:,|$)/i.test(headers.get('cache-control') ?? '')
}

/**
 * Gives 27 characters. Two types of one content differ, since caches keep them side by side where the reply varies.
 *
 * SHA-1 is the cheapest digest of node:crypto and cheaper than a sum in JavaScript from about 150 bytes on
 * (docs/decisions/0016-tags-of-replies.md). Nothing is protected by it: who can make two contents with one tag wrote
 * both.
 */
function digest(type: string, body: string | Uint8Array): string {
  const text =
    typeof body === 'string'
      ? hash('sha1', `${type}\n${body}`, 'base64')
      : createHash('sha1').update(`${type}\n`).update(body).digest('base64')
  return text.slice(0, 27)
}
