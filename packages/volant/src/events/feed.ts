/**
 * Keeps the stream of events that one client gets. It writes to the connection by itself; where a send hook or an encoder reads the
 * reply, it is read as any other source.
 */
import { VolantError } from '../errors/errors.ts'
import { breakOff } from '../types/phases.ts'
import type { EventsOfRequest, RequestContext } from '../types/request.ts'
import type { Chunk } from '../types/reply-options.ts'
import type { EventStream } from '../types/events.ts'
import type { ChunkSink, SourceParts } from '../reply/source.ts'
import { chunkOf, heartbeat } from './event.ts'
import { type Beating, keepBeating } from './heartbeat.ts'
import type { EventsSettings } from './settings.ts'

/** The bytes that may wait before `send` gives false. */
const highWater = 65_536

/** So many ms after the first probe of a client follows the second: most resets are back by then. */
const probeInterval = 500

/** `open` takes events; `ending` has all of them, and sends what waits; `over` sends nothing more. */
type Stage = 'open' | 'ending' | 'over'

export class EventFeed implements EventStream, EventsOfRequest, SourceParts, Beating {
  quiet = 0
  readonly #ctx: RequestContext
  readonly #settings: EventsSettings
  #stage: Stage = 'open'
  /** Is the connection once the head has left, if no hook and no encoder stands between. */
  #sink: ChunkSink | null = null
  /** True while the connection takes no more. */
  #full = false
  #waiting: Chunk[] = []
  #bytes = 0
  /** Takes the next chunk, where the reply is read. */
  #reader: ((chunk: Chunk | undefined) => void) | null = null
  #failure: { readonly error: unknown } | null = null
  #stopBeating: (() => void) | null = null
  /** Ends the waits of `drained`. */
  #drains: (() => void)[] = []
  /** Begins to read the source, when the reply leaves. */
  #begin: (() => void) | null = null
  /** Ends the source. */
  #end: (() => void) | null = null

  constructor(ctx: RequestContext, settings: EventsSettings) {
    this.#ctx = ctx
    this.#settings = settings
    // uWebSockets.js sends a head with its first chunk, and the page is told by the head that the stream is open.
    this.#put(settings.retry === null ? heartbeat : `retry: ${settings.retry}\n\n`)
  }

  get closed(): boolean {
    return this.#stage !== 'open'
  }

  send(event: unknown): boolean {
    if (this.#stage !== 'open') return false
    return this.#put(chunkOf(event))
  }

  drained(): Promise<void> {
    if (this.#stage === 'over' || !this.#isFull) return Promise.resolve()
    return new Promise((resolve) => this.#drains.push(resolve))
  }

  close(): void {
    if (this.#stage !== 'open') return
    this.#stage = 'ending'
    this.#flush()
    if (this.#reader !== null) this.#settle()
    else if (this.#sink !== null) this.#finish()
  }

  /** Ends the stream so that its client connects elsewhere, and not at the same moment as all others. */
  closeWithServer(): void {
    if (this.#stage !== 'open') return
    const { retry } = this.#settings
    this.#put(`retry: ${jitter(retry ?? usualRetry)}\n\n`)
    this.close()
  }

  probe(): void {
    const beat = (): void => {
      if (this.#stage === 'open') this.#put(heartbeat)
    }
    beat()
    // node:http sees the reset that answers the first one when it writes again.
    setTimeout(beat, probeInterval).unref()
  }

  /** Sets what begins and ends the source. */
  attach(begin: (() => void) | null, end: (() => void) | null): void {
    this.#begin = begin
    if (this.#stage === 'over') end?.()
    else this.#end = end
  }

  /** Ends the stream, since its source failed: the status was sent, so the connection is reset. */
  fail(error: unknown): void {
    if (this.#stage !== 'open') return
    this.#failure = { error }
    this.#over()
    if (this.#sink !== null) this.#sink.fail(error)
  }

  feed(sink: ChunkSink): void {
    this.#sink = sink
    sink.onDrain = () => {
      this.#full = false
      this.#flow()
    }
    this.#start()
    this.#flow()
    if (this.#stage === 'ending') this.#finish()
  }

  next(): Promise<Chunk | undefined> {
    this.#start()
    return new Promise((resolve, reject) => {
      this.#reader = (chunk) => {
        this.#reader = null
        if (chunk === undefined && this.#failure !== null) reject(this.#failure.error)
        else resolve(chunk)
      }
      this.#settle()
    })
  }

  cancel(): void {
    this.#over()
  }

  beat(): void {
    // What waits keeps the connection open.
    if (this.#stage === 'open' && this.#bytes === 0 && !this.#full) this.#put(heartbeat)
  }

  get #isFull(): boolean {
    return this.#full || this.#bytes > highWater
  }

  #start(): void {
    const begin = this.#begin
    this.#begin = null
    if (this.#stage !== 'open') return
    const { heartbeat: interval } = this.#settings
    if (interval > 0) this.#stopBeating ??= keepBeating(this, interval)
    begin?.()
  }

  #put(chunk: Chunk): boolean {
    this.quiet = 0
    const sink = this.#sink
    if (sink !== null && !this.#full) {
      this.#full = !sink.write(chunk)
      return !this.#full
    }
    const { maxBuffer } = this.#settings
    this.#waiting.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > maxBuffer) this.#overflow(maxBuffer)
    else if (this.#reader !== null) this.#settle()
    return !this.#isFull && this.#stage === 'open'
  }

  /** Gives the reader what waits, or the end. */
  #settle(): void {
    const reader = this.#reader
    if (reader === null) return
    if (this.#bytes > 0) {
      const chunks = this.#waiting
      this.#waiting = []
      this.#bytes = 0
      reader(joined(chunks))
      this.#wake()
    } else if (this.#stage !== 'open') {
      this.#over()
      reader(undefined)
    }
  }

  /** Writes what waits until the connection takes no more. */
  #flow(): void {
    const sink = this.#sink as ChunkSink
    let taken = 0
    while (taken < this.#waiting.length && !this.#full) {
      const chunk = this.#waiting[taken++] as Chunk
      this.#bytes -= chunk.length
      this.#full = !sink.write(chunk)
    }
    // Taken one by one by `shift`, 100,000 of them are 4 s: each moves all that follow.
    this.#waiting.splice(0, taken)
    if (!this.#isFull) this.#wake()
  }

  /** Hands the connection all that waits, however full it is: nothing follows. */
  #flush(): void {
    const sink = this.#sink
    if (sink === null) return
    for (const chunk of this.#waiting) sink.write(chunk)
    this.#waiting = []
    this.#bytes = 0
  }

  #finish(): void {
    this.#flush()
    this.#over()
    this.#sink?.end()
  }

  /** A client that does not read what it asked for is no error of the app. It connects again with its last id. */
  #overflow(maxBuffer: number): void {
    const ctx = this.#ctx
    const error = new VolantError(
      'E_RESET',
      `more than maxBuffer (${maxBuffer} bytes) waited for a client that reads its events slowly, so its connection was reset`,
    )
    this.#failure = { error }
    this.#over()
    if (this.#sink === null) return
    breakOff(ctx)
    ctx.more.failure = error
    ctx.exchange.destroy()
  }

  #over(): void {
    if (this.#stage === 'over') return
    this.#stage = 'over'
    this.#stopBeating?.()
    this.#waiting = []
    this.#bytes = 0
    const end = this.#end
    this.#begin = null
    this.#end = null
    end?.()
    this.#wake()
    const reader = this.#reader
    if (reader !== null) reader(undefined)
  }

  #wake(): void {
    if (this.#drains.length === 0) return
    const drains = this.#drains
    this.#drains = []
    for (const resolve of drains) resolve()
  }
}

/** What Chromium waits by itself, in ms. */
const usualRetry = 3_000

/** Gives a time between a half and three halves of `retry`, at least 100 ms: the server that closes needs a moment. */
function jitter(retry: number): number {
  return Math.max(100, Math.round(retry * (0.5 + Math.random())))
}

function joined(chunks: readonly Chunk[]): Chunk {
  if (chunks.length === 1) return chunks[0] as Chunk
  if (chunks.every((chunk) => typeof chunk === 'string')) return chunks.join('')
  return Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as string)))
}
