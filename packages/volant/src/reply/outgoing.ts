/** A reply as send hooks see and change it, before it leaves. */
import { ContentType, contentTypes, unpackHeaders } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import { checkHeaderName, removeHeaders } from './header.ts'
import { dropPart, requestName } from './late-reply.ts'
import { Acceptance, isStream, openSource, type ReplyContent, type SourceParts } from './source.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import type { Chunk, Source } from '../types/reply-options.ts'
import type { OutgoingHeaders, OutgoingReply } from '../types/send-hook.ts'

export class Outgoing implements OutgoingReply, OutgoingHeaders {
  readonly #ctx: RequestContext
  #type: ContentType
  #content: ReplyContent
  /** Every source that was the body: one that reads from another does not cancel it before it has begun. */
  #sources: SourceParts[] = []
  #chunks: AsyncIterable<Chunk> | null = null

  constructor(ctx: RequestContext, type: ContentType, content: ReplyContent) {
    this.#ctx = ctx
    this.#type = type
    this.#content = content
    if (isStream(content)) this.#hold(content.parts)
  }

  get status(): number {
    return this.#ctx.statusCode
  }

  set status(code: number) {
    this.#ctx.status(code)
  }

  get headers(): OutgoingHeaders {
    return this
  }

  get body(): string | Uint8Array | AsyncIterable<Chunk> | null {
    const content = this.#content
    if (content instanceof Acceptance) return null
    return isStream(content) ? (this.#chunks ??= chunksOf(content.parts)) : content
  }

  set body(body: string | Uint8Array | Source | null) {
    if (this.#isLate('the body')) return
    const before = this.#content
    if (body === null || typeof body === 'string' || body instanceof Uint8Array) this.#content = body
    else {
      const parts = this.#open(body)
      const mayBeEndless = isStream(before) ? before.mayBeEndless : true
      this.#content = { parts, length: -1, mayBeEndless }
      this.#chunks = null
      this.#hold(parts)
    }
    if (body === null) this.delete('content-type')
  }

  get length(): number | undefined {
    const content = this.#content
    if (content === null || content instanceof Acceptance) return 0
    if (!isStream(content)) return Buffer.byteLength(content)
    return content.length < 0 ? undefined : content.length
  }

  set length(length: number | undefined) {
    const content = this.#content
    if (content === null || !isStream(content)) {
      throw new VolantError(
        'E_BAD_OPTION',
        `reply.length was set for a body that is no stream, in an onSend hook of ${requestName(this.#ctx)}: leave it out, since the server counts the bytes`,
      )
    }
    if (length !== undefined && (!Number.isSafeInteger(length) || length < 0)) {
      throw new VolantError('E_BAD_OPTION', `length takes a number of bytes, not ${briefValue(length)}`)
    }
    if (!this.#isLate('the length')) this.#content = { ...content, length: length ?? -1 }
  }

  get(name: string): string | undefined {
    const values = this.#valuesOf(name.toLowerCase())
    return values.length === 0 ? undefined : values.join(', ')
  }

  getSetCookie(): string[] {
    return this.#valuesOf('set-cookie')
  }

  has(name: string): boolean {
    return this.#valuesOf(name.toLowerCase()).length > 0
  }

  set(name: string, value: string | number): void {
    this.#ctx.header(name, value)
  }

  append(name: string, value: string | number): void {
    this.#ctx.append(name, value)
  }

  delete(name: string): void {
    const lower = checkHeaderName(name)
    if (this.#isLate(`the header ${name}`)) return
    const { replyHeaders } = this.#ctx
    if (replyHeaders !== null) removeHeaders(replyHeaders, (each) => each === lower)
    if (lower !== 'content-type') return
    this.#ctx.hasType = false
    this.#type = ContentType.custom
  }

  /** Gives the content type and the body to send. Sources that are not part of the body are cancelled. */
  settled(): { type: ContentType; content: ReplyContent } {
    const content = this.#content
    if (!isStream(content)) this.cancel()
    else if (this.#sources.length > 1) {
      const { parts } = content
      return { type: this.#type, content: { ...content, parts: withSources(parts, this.#sources) } }
    }
    return { type: this.#type, content }
  }

  /** Gives the body as it is kept; null for a WebSocket. */
  get content(): Exclude<ReplyContent, Acceptance> {
    return this.#content instanceof Acceptance ? null : this.#content
  }

  /** Replaces a stream by one of unknown length that reads it, and that cancels it with itself. */
  wrap(stream: (parts: SourceParts) => SourceParts): void {
    const { content } = this.settled()
    if (!isStream(content)) return
    const parts = stream(content.parts)
    this.#content = { ...content, parts, length: -1 }
    this.#chunks = null
    this.#sources = []
    this.#hold(parts)
  }

  /** Cancels every source. Those that have ended take no notice. */
  cancel(): void {
    cancelAll(this.#sources)
  }

  #hold(parts: SourceParts): void {
    this.#sources.push(parts)
    this.#ctx.more.cancelStream = () => this.cancel()
  }

  #open(body: unknown): SourceParts {
    if (typeof body === 'object' && body !== null) {
      try {
        return openSource(body as Source)
      } catch (error) {
        if (!(error instanceof VolantError)) throw error
      }
    }
    throw new VolantError(
      'E_NOT_SERIALISABLE',
      `reply.body takes text, bytes, a stream or null in an onSend hook, not ${briefValue(body)}, in ${requestName(this.#ctx)}: write JSON.stringify(value)`,
    )
  }

  #valuesOf(lower: string): string[] {
    const { replyHeaders } = this.#ctx
    const values: string[] = []
    const list = replyHeaders === null ? [] : unpackHeaders(replyHeaders)
    for (let at = 0; at < list.length; at += 2) {
      if ((list[at] as string).toLowerCase() === lower) values.push(list[at + 1] as string)
    }
    const type = contentTypes[this.#type]
    if (lower === 'content-type' && values.length === 0 && typeof type === 'string') values.push(type)
    return values
  }

  /** Reports a change to a reply that has left. */
  #isLate(what: string): boolean {
    if (this.#ctx.phase === ReplyPhase.sending) return false
    dropPart(this.#ctx, what)
    return true
  }
}

/** Gives the chunks to a hook that reads or wraps them. */
function chunksOf(parts: SourceParts): AsyncIterable<Chunk> {
  const iterator: AsyncIterator<Chunk, undefined> = {
    next: async () => {
      const value = await parts.next()
      return value === undefined ? { done: true, value } : { done: false, value }
    },
    return: async () => {
      parts.cancel()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** Cancels all sources with the outermost one, and when that has ended. */
function withSources(outermost: SourceParts, sources: readonly SourceParts[]): SourceParts {
  return {
    next: async () => {
      const chunk = await outermost.next()
      if (chunk === undefined) cancelAll(sources)
      return chunk
    },
    cancel: () => cancelAll(sources),
  }
}

function cancelAll(sources: readonly SourceParts[]): void {
  for (const parts of sources) parts.cancel()
}
