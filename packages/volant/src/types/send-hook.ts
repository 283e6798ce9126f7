/** Send hooks: functions that see a reply before it leaves, and may change it. */
import type { Context } from './context.ts'
import type { Chunk, Source } from './reply-options.ts'
import type { RequestContext } from './request.ts'

/**
 * A function that the framework calls with every reply of its scope before it leaves: values, streams,
 * files, errors and misses. It may change all of it, and may be async: the reply leaves when its promise has resolved.
 *
 * What it throws, or rejects with, is answered like any error, by a reply that no hook sees. It returns nothing: a body
 * is set as `reply.body`.
 */
export type SendHook = (ctx: Context, reply: OutgoingReply) => void | Context | PromiseLike<void | Context>

/** A reply before it leaves. `ctx.header`, `ctx.append`, `ctx.cookie` and `ctx.status(code)` change it, too. */
export interface OutgoingReply {
  /** The status, an integer from 200 to 599. Any other value throws `E_BAD_STATUS`. */
  status: number
  /** The headers, without those that the server writes itself, such as Date and Content-Length. */
  readonly headers: OutgoingHeaders
  /** The body: text, bytes, the chunks of a stream, or null for none. */
  get body(): string | Uint8Array | AsyncIterable<Chunk> | null
  /**
   * Replaces the body by text, bytes, another stream, or null, which drops the content type as well. The content type
   * stays otherwise. A stream that the new body reads from is cancelled with it. Throws `E_NOT_SERIALISABLE` for
   * anything else.
   */
  set body(body: string | Uint8Array | Source | null)
  /** The length of the body in bytes; undefined for a stream without a declared length. */
  get length(): number | undefined
  /**
   * Declares the length of a stream in bytes. A new body has none until it is set. Throws `E_BAD_OPTION` for a body that
   * is no stream, whose length is its own, and for anything but a whole number from 0 on.
   */
  set length(length: number | undefined)
}

/** The headers of a reply before it leaves. Names are case-insensitive. */
export interface OutgoingHeaders {
  /** Gives the value; several of one name are joined by commas. The content type is the one that will be sent. */
  get(name: string): string | undefined
  /** Gives the values of Set-Cookie, which cannot be joined. */
  getSetCookie(): string[]
  /** True where a header of this name will be sent. */
  has(name: string): boolean
  /** Sets a header in place of those of its name, as `ctx.header` does. Throws `E_BAD_HEADER`. */
  set(name: string, value: string | number): void
  /** Adds a header beside those of its name, as `ctx.append` does. Throws `E_BAD_HEADER`. */
  append(name: string, value: string | number): void
  /** Removes the headers of this name. Throws `E_BAD_HEADER` for a header that the server writes itself. */
  delete(name: string): void
}

/**
 * What gives replies the form in which they travel, such as a content coding. It sees a reply after every send hook,
 * wherever it was registered, so that tags and digests are those of the content. A reply has at most one encoder.
 */
export interface Encoder {
  /** The call that made it, for messages. */
  readonly name: string
  /**
   * The quick look at a reply that no hook sees: false where it stays as it is, so that nothing is made for it.
   * `content` is text, bytes, a stream or null.
   */
  concerns(ctx: RequestContext, content: string | Uint8Array | object | null, status: number): boolean
  readonly encode: SendHook
}
