/**
 * The body of a streamed batch: a first line with an entry for every call, then a line for each value when it is ready.
 * A promise or an async iterable stands as 0 in its line and has a number; its own lines are `[number, status, value]`.
 */
import type { RequestContext } from '../../types/request.ts'
import { isThenable } from '../../types/thenable.ts'
import { unlessError } from '../definition.ts'
import { isAsyncIterable, stop } from './call.ts'
import type { Settings } from './options.ts'
import { failed, unwritable } from './reply.ts'

const kinds = { promise: 0, iterable: 1 } as const
/** The status in a line of a promise. */
const promised = { value: 0, error: 1 } as const
/** The status in a line of an iterable. */
const iterated = { end: 0, value: 1, error: 2 } as const

type Deferral = [key: string | null, kind: number, number: number]
type Encoded = [[] | [unknown], ...Deferral[]]

/** The most characters that may wait to be read: beyond these, iterables pause until the client has read them. */
const mostWaiting = 65_536

/** Each read gives all lines that are ready, and waits where there are none. */
export class Lines implements AsyncIterableIterator<string> {
  readonly #ctx: RequestContext
  readonly #settings: Settings
  readonly #iterators = new Set<AsyncIterator<unknown>>()
  #lines = ''
  #numbers = 0
  /** The number of deferred values that have not settled. */
  #pending = 0
  #closed = false
  #wake: (() => void) | null = null
  /** Resumes the iterables that wait for the client. */
  #held: (() => void)[] = []

  constructor(
    ctx: RequestContext,
    calls: readonly Promise<unknown>[],
    paths: readonly string[],
    settings: Settings,
  ) {
    this.#ctx = ctx
    this.#settings = settings
    const head = Object.fromEntries(
      calls.map((call, index) => [
        index,
        this.#encode(this.#replyOf(call, paths[index] as string), paths[index] as string),
      ]),
    )
    this.#write(head)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    while (this.#lines === '' && this.#pending > 0 && !this.#closed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const value = this.#lines
    this.#lines = ''
    this.#release()
    return value === '' || this.#closed ? { done: true, value: undefined } : { done: false, value }
  }

  /** The client disconnected: values that are not ready yet are not needed. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#closed = true
    this.#wake?.()
    this.#release()
    for (const iterator of this.#iterators) stop(iterator)
    return { done: true, value: undefined }
  }

  /** Gives the reply that this call alone would have. Its data is deferred: clients resolve members only there. */
  async #replyOf(call: Promise<unknown>, path: string): Promise<object> {
    try {
      const data = await call
      return { result: Promise.resolve({ data: Promise.resolve(data) }) }
    } catch (error) {
      return { error: failed(this.#ctx, error, path) }
    }
  }

  /** Encodes a value. Only the value itself and its own members may be deferred. */
  #encode(value: unknown, path: string): Encoded {
    if (value === undefined) return [[]]
    const whole = this.#defer(value, path)
    if (whole !== null) return [[0], [null, ...whole]]
    if (!isPlain(value)) return [[value]]
    const members: [string, unknown][] = []
    const references: Deferral[] = []
    for (const [key, member] of Object.entries(value)) {
      const deferred = this.#defer(member, path)
      members.push([key, deferred === null ? member : 0])
      if (deferred !== null) references.push([key, ...deferred])
    }
    return [[references.length === 0 ? value : Object.fromEntries(members)], ...references]
  }

  #defer(value: unknown, path: string): [kind: number, number: number] | null {
    if (typeof value !== 'object' || value === null) return null
    const isPromise = isThenable(value)
    if (!isPromise && !isAsyncIterable(value)) return null
    const number = this.#numbers++
    this.#pending++
    void (isPromise ? this.#settle(number, value, path) : this.#iterate(number, value, path)).finally(() => {
      this.#pending--
      this.#wake?.()
    })
    return [isPromise ? kinds.promise : kinds.iterable, number]
  }

  async #settle(number: number, promise: PromiseLike<unknown>, path: string): Promise<void> {
    try {
      const value = unlessError(await promise)
      this.#write([number, promised.value, this.#encode(value, path)])
    } catch (error) {
      this.#fail(number, promised.error, error, path)
    }
  }

  async #iterate(number: number, iterable: AsyncIterable<unknown>, path: string): Promise<void> {
    const iterator = iterable[Symbol.asyncIterator]()
    this.#iterators.add(iterator)
    try {
      while (!this.#closed) {
        const { done = false, value } = await iterator.next()
        unlessError(value)
        this.#write([number, done ? iterated.end : iterated.value, this.#encode(value, path)])
        if (done) break
        if (this.#lines.length > mostWaiting) await new Promise<void>((resolve) => this.#held.push(resolve))
      }
    } catch (error) {
      // Writing may have failed, so the generator may still run.
      stop(iterator)
      this.#fail(number, iterated.error, error, path)
    } finally {
      this.#iterators.delete(iterator)
    }
  }

  #fail(number: number, status: number, error: unknown, path: string): void {
    try {
      this.#write([number, status, failed(this.#ctx, error, path)])
    } catch (second) {
      this.#lines += `${JSON.stringify([number, status, unwritable(this.#ctx, second, path)])}\n`
    }
  }

  #release(): void {
    const held = this.#held
    this.#held = []
    for (const resume of held) resume()
  }

  #write(line: unknown): void {
    if (this.#closed) return
    const { output } = this.#settings
    this.#lines += `${JSON.stringify(output === null ? line : output.serialize(line))}\n`
    this.#wake?.()
  }
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
