/** `compress()` gives replies a content coding that the client takes (RFC 9110 §8.4, §12.5.3). */
import { type Coding, compressLater, compressNow, compressor } from './codings.ts'
import { events } from './compressible.ts'
import { queued } from './jobs.ts'
import { negotiator } from './negotiation.ts'
import { type CompressSettings, checked, type CompressOptions } from './options.ts'
import { CompressedParts } from './stream.ts'
import { encoding, hintMisuse } from '../dispatch/declare.ts'
import type { Outgoing } from '../reply/outgoing.ts'
import { isStream } from '../reply/source.ts'
import type { Context } from '../types/context.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import type { Encoder, OutgoingReply } from '../types/send-hook.ts'

/**
 * Compresses replies for clients that take them so:
 *
 *     app.use(compress())
 *
 * It sees replies after all hooks of `onSend`, wherever it is registered, so `etag()` tags the content itself. Text,
 * JSON, XML and the like are compressed from `threshold` bytes on, and streams of these types: what a stream gives is
 * passed on whenever it pauses. Replies that have Content-Encoding, `no-transform` in Cache-Control or a digest stay as
 * they are, and so do parts (206) and those that would get longer. Vary names Accept-Encoding wherever the
 * reply depends on it. A route says no with `{ compress: false }`.
 *
 * A reply has one encoder: the app does not start where two of them would see it (`E_MIDDLEWARE_CONFLICT`). Throws
 * `E_BAD_OPTION`.
 */
export function compress(options: CompressOptions = {}): FittingMiddleware {
  return encoding(new Compression(checked(options)))
}

hintMisuse(compress, 'app.use(compress())')

/** The compression of one scope. */
export class Compression implements Encoder {
  readonly name = 'compress()'
  readonly #options: CompressSettings
  readonly #negotiate: (header: string | undefined) => Coding | null
  /** Of event streams, for which gzip alone has a compressor that is small enough. */
  readonly #negotiateEvents: (header: string | undefined) => Coding | null
  /** The streams that are compressed at present. */
  #compressing = 0

  constructor(options: CompressSettings) {
    this.#options = options
    this.#negotiate = negotiator(options.encodings)
    this.#negotiateEvents = negotiator(options.encodings.filter((coding) => coding === 'gzip'))
  }

  concerns(_: unknown, content: string | Uint8Array | object | null, status: number): boolean {
    if (content === null) return status === 304
    // A part may be short where the whole is not, and says what the whole depends on (§15.3.7).
    if (status === 206) return true
    const { threshold } = this.#options
    if (typeof content === 'string') {
      // A character takes one byte of UTF-8 at least, and three at most for its length.
      const { length } = content
      return length >= threshold || (length * 3 >= threshold && Buffer.byteLength(content) >= threshold)
    }
    return !(content instanceof Uint8Array) || content.length >= threshold
  }

  encode(given: Context, reply: OutgoingReply): void | Promise<void> {
    const ctx = given as RequestContext
    const outgoing = reply as Outgoing
    const { status, headers } = reply
    // A 304 is for what was compressed or not, and its type is not known (RFC 9110 §15.4.5).
    if (status === 304) return void ctx.vary('Accept-Encoding')
    const type = mediaType(headers.get('content-type'))
    if (!this.#mayEncode(ctx, outgoing, type)) return
    ctx.vary('Accept-Encoding')
    // The parts of a 206 are those of the content as it is (§14.4).
    if (status === 206) return
    const isEvents = type === events
    const coding = (isEvents ? this.#negotiateEvents : this.#negotiate)(
      ctx.exchange.header('accept-encoding'),
    )
    if (coding === null) return
    const { content } = outgoing
    if (ctx.method === 'HEAD') {
      this.#describe(ctx, reply, null)
      if (content !== null && !isStream(content)) reply.body = []
      else if (isStream(content)) reply.length = undefined
      return
    }
    if (content === null) return
    if (!isStream(content)) return this.#whole(ctx, reply, coding, content)
    if (this.#compressing >= this.#options.maxCompressing) return
    this.#compressing++
    this.#describe(ctx, reply, coding)
    outgoing.wrap(
      (parts) =>
        new CompressedParts(
          parts,
          content.length,
          () => compressor(coding, this.#options.levels[coding], isEvents),
          isEvents,
          () => this.#compressing--,
        ),
    )
  }

  /** Gives the coding for a body of this type and length that the client of a request takes; null for none. */
  codingFor(ctx: RequestContext, type: string, length: number): Coding | null {
    const { threshold, filter } = this.#options
    if (length < threshold || !filter(ctx, mediaType(type))) return null
    return this.#negotiate(ctx.exchange.header('accept-encoding'))
  }

  /**
   * Gives the bytes of a body in a coding, as it is configured here: at once up to `syncThreshold`, later above. Gives
   * null where too much waits, or where `isDue` says that nobody waits any more.
   */
  bytes(coding: Coding, bytes: Uint8Array, isDue: () => boolean): Buffer | Promise<Buffer | null> | null {
    const level = this.#options.levels[coding]
    if (bytes.length <= this.#options.syncThreshold) return compressNow(coding, bytes, level)
    return queued(bytes.length, isDue, () => compressLater(coding, bytes, level))
  }

  #mayEncode(ctx: RequestContext, { status, content, headers }: Outgoing, type: string): boolean {
    if (status === 204 || status === 205 || content === null || type === '') return false
    const { threshold, filter } = this.#options
    if (
      isStream(content)
        ? content.length >= 0 && content.length < threshold
        : !this.concerns(ctx, content, status)
    )
      return false
    return filter(ctx, type) && !isBound(headers)
  }

  #whole(
    ctx: RequestContext,
    reply: OutgoingReply,
    coding: Coding,
    content: string | Uint8Array,
  ): void | Promise<void> {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    const put = (packed: Buffer | null): void => {
      if (packed === null || packed.length >= bytes.length) return
      this.#describe(ctx, reply, coding)
      reply.body = packed
    }
    const packed = this.bytes(coding, bytes, () => !ctx.exchange.aborted)
    return packed instanceof Promise ? packed.then(put) : put(packed)
  }

  /** Sets the headers of a compressed reply. That to HEAD does not say the coding, which the length would decide. */
  #describe(ctx: RequestContext, { headers }: OutgoingReply, coding: Coding | null): void {
    if (coding !== null) ctx.place('content-encoding', 'content-encoding', coding)
    const tag = headers.get('etag')
    // A strong tag promises the very bytes (§8.8.3.3).
    if (tag?.startsWith('"')) headers.set('etag', `W/${tag}`)
    headers.delete('accept-ranges')
  }
}

/**
 * Gives the compression that replies to this request go through, for what keeps compressed bytes: null without one, and
 * for one that `use(path, …)` restricts. A reply that has Content-Encoding passes it as it is.
 */
export function compressionOf(ctx: RequestContext): Compression | null {
  const { encoder } = ctx.route
  return encoder instanceof Compression ? encoder : null
}

/** True for headers of content whose bytes stay as they are. */
export function isBound(headers: {
  has(name: string): boolean
  get(name: string): string | null | undefined
}): boolean {
  return bound.some((name) => headers.has(name)) || noTransform.test(headers.get('cache-control') ?? '')
}

/** The headers of content whose bytes are not to be changed: it is encoded, or has a sum (RFC 9530). */
const bound = ['content-encoding', 'content-digest', 'repr-digest', 'digest', 'content-md5']

/** Matches the directive that forbids intermediaries, and so this one, to change the content (RFC 9111 §5.2.2.6). */
const noTransform = /(?:^|,)\s*no-transform\s*(?:,|$)/i

/** Gives the type without its parameters, in lower case; empty for none. */
function mediaType(value: string | undefined): string {
  return value === undefined ? '' : (value.split(';', 1)[0] as string).trim().toLowerCase()
}
