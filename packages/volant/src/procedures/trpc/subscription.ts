/** Sends subscriptions as server-sent events (HTML Living Standard §9.2), named as tRPC's clients expect them. */
import { isThenable } from '../../types/thenable.ts'
import { CallContext } from '../call-context.ts'
import { eventOf, eventsOf } from '../events.ts'
import type { Served } from '../output.ts'
import { unlessError } from '../definition.ts'
import { checkMethod, stop } from './call.ts'
import type { Settings } from './options.ts'
import { failed, prepareHead, replyError, writtenError } from './reply.ts'
import { lastEventId, singleInput, withLastEventId } from './request.ts'
import type { RequestContext } from '../../types/request.ts'

/** Replies 200 with a stream even where the call fails: the error is an event, and the client then gives up or tries again. */
export function subscribe(ctx: RequestContext, placed: Served, settings: Settings): unknown {
  const { path, procedure } = placed
  const last = lastEventId(ctx)
  const end = settings.maxSubscription === 0 ? null : new AbortController()
  if (end !== null) follow(ctx.signal, end)
  const begin = (start: Start): void => {
    try {
      ctx.header('cache-control', 'no-cache, no-transform')
      // nginx would buffer the events.
      ctx.header('x-accel-buffering', 'no')
      const status = prepareHead(ctx, 200, [path], 'subscription', [], settings, true)
      const stream = new EventStream(ctx, placed, start, last, end, settings)
      ctx.signal.addEventListener('abort', () => stream.closeWithServer(), { once: true })
      ctx.stream(stream, { type: 'text/event-stream', status })
    } catch (error) {
      replyError(ctx, error, placed, settings)
    }
  }
  try {
    checkMethod(ctx, placed, settings)
    const input = withLastEventId(singleInput(ctx, settings), last)
    const value = procedure.perform(new CallContext(ctx, placed, input, end?.signal ?? null))
    if (!isThenable(value)) return begin({ value })
    return value.then(
      (given) => begin({ value: given }),
      (error: unknown) => begin({ error }),
    )
  } catch (error) {
    return begin({ error })
  }
}

/** Aborts `end` with `signal`. `AbortSignal.any` of Node.js 20 would leak memory for each subscription. */
function follow(signal: AbortSignal, end: AbortController): void {
  if (signal.aborted) end.abort(signal.reason)
  else signal.addEventListener('abort', () => end.abort(signal.reason), { once: true })
}

/** The value that the handler returned, or the error that it threw. */
type Start = { readonly value: unknown } | { readonly error: unknown }

type Stage = 'connecting' | 'open' | 'over'

class EventStream implements AsyncIterableIterator<string> {
  readonly #ctx: RequestContext
  readonly #placed: Served
  readonly #start: Start
  readonly #settings: Settings
  readonly #end: AbortController | null
  readonly #timer: NodeJS.Timeout | null
  #iterator: AsyncIterator<unknown> | null = null
  /** The event that is awaited; several pings may be sent meanwhile. */
  #asked: Promise<IteratorResult<unknown>> | null = null
  #stage: Stage = 'connecting'
  /** The id that the client sends when it connects again. */
  #lastId: string | null
  #leave: (() => void) | null = null

  constructor(
    ctx: RequestContext,
    placed: Served,
    start: Start,
    lastId: string | null,
    end: AbortController | null,
    settings: Settings,
  ) {
    this.#ctx = ctx
    this.#placed = placed
    this.#start = start
    this.#settings = settings
    this.#end = end
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    this.#lastId = lastId !== null && !/[\0\r\n]/.test(lastId) ? lastId : null
    this.#timer = end === null ? null : setTimeout(() => this.#close(), settings.maxSubscription)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    if (this.#stage === 'connecting') {
      this.#stage = 'open'
      const { reconnectAfter } = this.#settings
      return chunk(
        event(
          'connected',
          JSON.stringify(reconnectAfter > 0 ? { reconnectAfterInactivityMs: reconnectAfter } : {}),
        ),
      )
    }
    if (this.#stage === 'over') return done
    try {
      if ('error' in this.#start) throw this.#start.error
      this.#iterator ??= eventsOf(this.#placed.path, this.#start.value)
      const result = await this.#wait(this.#iterator)
      if (result === 'over' || (this.#stage as Stage) === 'over') return done
      if (result === 'quiet') return chunk(event('ping', ''))
      if (result.done === true) {
        unlessError(result.value)
        this.#finish()
        return chunk(event('return', ''))
      }
      return chunk(await this.#written(result.value))
    } catch (error) {
      if ((this.#stage as Stage) === 'over') return done
      const shape = failed(this.#ctx, error, this.#placed.path)
      this.#close()
      return chunk(event('serialized-error', writtenError(this.#ctx, shape, this.#settings).text))
    }
  }

  /** Ends the stream without a `return` event, after which the client would not connect again. */
  closeWithServer(): void {
    if (this.#ctx.app.serving.closing) this.#close()
  }

  /** Ends the stream, since the client disconnected. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#close()
    return done
  }

  /** Gives the next event; `quiet` when a ping is due, `over` when the stream has ended. */
  async #wait(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown> | 'quiet' | 'over'> {
    this.#asked ??= iterator.next()
    // When the stream has ended nobody reads it, and an unhandled rejection would end the process.
    this.#asked.catch(() => {})
    const { pingInterval } = this.#settings
    let timer: NodeJS.Timeout | undefined
    const others = new Promise<'quiet' | 'over'>((resolve) => {
      this.#leave = () => resolve('over')
      if (pingInterval > 0) timer = setTimeout(resolve, pingInterval, 'quiet')
    })
    try {
      const result = await Promise.race([this.#asked, others])
      if (typeof result === 'object') this.#asked = null
      return result
    } finally {
      clearTimeout(timer)
      this.#leave = null
    }
  }

  async #written(value: unknown): Promise<string> {
    const { id, data } = await eventOf(value, this.#placed.output)
    const { output } = this.#settings
    const json = JSON.stringify(output === null ? data : output.serialize(data)) ?? 'null'
    if (id !== undefined) {
      this.#lastId = id
      return `data: ${json}\nid: ${id}\n\n\n`
    }
    if (this.#lastId === null) return `data: ${json}\n\n\n`
    // The browser would show the last id with this event. Clear it for this event, then restore it: a client that
    // connects again goes on after the last event with an id.
    return `data: ${json}\nid: \n\n\n${event('restore-id', '', this.#lastId)}`
  }

  #finish(): void {
    this.#stage = 'over'
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  /** Stops the handler, which may still be waiting. */
  #close(): void {
    if (this.#stage === 'over') return
    this.#finish()
    this.#end?.abort(new DOMException('the subscription was ended', 'AbortError'))
    this.#leave?.()
    if (this.#iterator !== null) stop(this.#iterator)
  }
}

/** tRPC writes three line ends where two would do. */
function event(name: string, data: string, id?: string): string {
  return `event: ${name}\ndata: ${data}\n${id === undefined ? '' : `id: ${id}\n`}\n\n`
}

function chunk(value: string): IteratorResult<string, undefined> {
  return { done: false, value }
}

const done: IteratorResult<string, undefined> = { done: true, value: undefined }
