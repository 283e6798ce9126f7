/** Plays a reply of the context into `res`, where middlewares have replaced its methods: they may change all of it. */
import type { Pair, Play } from './pair.ts'
import { isStream, type Acceptance, type ReplyContent } from '../reply/source.ts'
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import type { Chunk } from '../types/reply-options.ts'
import { isBodiless } from '../reply/send.ts'

/** Runs as an onSend hook. It gives a promise where a middleware keeps the reply for a while, as a session store does. */
export function replay(pair: Pair, ctx: RequestContext, reply: OutgoingReply): Promise<void> | undefined {
  const { res } = pair
  const { body, status, headers, length } = reply
  res.statusCode = status
  const type = headers.get('content-type')
  if (type !== undefined && !ctx.hasType) headers.set('content-type', type)
  if (length !== undefined && !isBodiless(status)) res.setHeader('Content-Length', length)
  const played = new Played(pair, ctx, reply)
  pair.play = played
  if (body === null || ctx.method === 'HEAD') res.end()
  else if (typeof body === 'string' || body instanceof Uint8Array) res.end(body)
  else void feed(pair, played, body)
  return played.wait()
}

class Played implements Play {
  readonly #pair: Pair
  readonly #ctx: RequestContext
  readonly #reply: OutgoingReply
  #isTaken = false
  #settle: { resolve(): void; reject(error: unknown): void } | null = null
  #failure: { readonly error: unknown } | null = null

  constructor(pair: Pair, ctx: RequestContext, reply: OutgoingReply) {
    this.#pair = pair
    this.#ctx = ctx
    this.#reply = reply
  }

  wait(): Promise<void> | undefined {
    if (this.#failure !== null) throw this.#failure.error
    if (this.#isTaken) return undefined
    // A client that disconnects ends the wait, too.
    this.#pair.watch()
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
  }

  take(content: Exclude<ReplyContent, Acceptance>): void {
    const ctx = this.#ctx
    const reply = this.#reply
    const { res } = this.#pair
    // The client may have left, or time was over, while a middleware kept the reply.
    if (this.#isTaken) return
    this.#isTaken = true
    const fields = ctx.replyHeaders
    const { hasType } = ctx
    if (!hasType) reply.headers.delete('content-type')
    if (ctx.method !== 'HEAD') {
      if (isStream(content)) {
        const { parts, length } = content
        reply.body = { [Symbol.asyncIterator]: () => iteratorOf(parts) }
        reply.length = length < 0 ? undefined : length
      } else if (content !== reply.body) reply.body = content
    }
    reply.status = res.statusCode
    ctx.replyHeaders = fields
    ctx.hasType = hasType
    this.#settle?.resolve()
  }

  fail(error: unknown): void {
    this.#failure = { error }
    this.#settle?.reject(error)
  }
}

function iteratorOf(parts: { next(): Promise<Chunk | undefined>; cancel(): void }): AsyncIterator<Chunk> {
  return {
    next: async () => {
      const value = await parts.next()
      return value === undefined ? { done: true, value: undefined } : { done: false, value }
    },
    return: async () => {
      parts.cancel()
      return { done: true, value: undefined }
    },
  }
}

/** Writes the chunks of a streamed reply as fast as `res` takes them. */
async function feed(pair: Pair, played: Played, chunks: AsyncIterable<Chunk>): Promise<void> {
  const { res } = pair
  let wake: (() => void) | null = null
  const go = (): void => {
    wake?.()
    wake = null
  }
  // One listener for all: one that is removed again stays where a middleware has replaced `on`.
  res.on('drain', go)
  res.on('close', go)
  try {
    for await (const chunk of chunks) {
      if (pair.isOver || pair.outlet?.isCancelled === true) return
      if (!res.write(chunk) && !pair.isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      if (pair.isOver) return
    }
    res.end()
  } catch (error) {
    if (pair.outlet === null) played.fail(error)
    else pair.outlet.fail(error)
  }
}
