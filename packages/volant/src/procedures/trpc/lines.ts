/**
 * The body of a streamed batch: a first line with a place for every call, then a line for each value as it is there.
 * A value that is still to come, a promise or an async iterable, is 0 where it will be, with a number under which its
 * lines follow: `[number, status, value]`.
 */
import { isThenable } from '../../types/thenable.ts'
import { unlessError } from '../definition.ts'
import { isAsyncIterable, stop } from './call.ts'
import { shapeOf } from './error-shape.ts'
import type { Settings } from './options.ts'
import { failed } from './reply.ts'
import type { RequestContext } from '../../types/request.ts'

/** Of a deferred value. */
const kinds = { promise: 0, iterable: 1 } as const
/** Of a line of a promise. */
const promised = { value: 0, error: 1 } as const
/** Of a line of an iterable. */
const iterated = { end: 0, value: 1, error: 2 } as const

type Reference = [key: string | null, kind: number, number: number]
type Encoded = [[] | [unknown], ...Reference[]]

/** Characters that may wait to be read before iterables are asked for no more: a client that reads slowly slows them. */
const mostWaiting = 65_536

/** What is read from it are as many lines as are there; the next read waits for more. */
export class Lines implements AsyncIterableIterator<string> {
  readonly #ctx: RequestContext
  readonly #settings: Settings
  readonly #iterators = new Set<AsyncIterator<unknown>>()
  #lines = ''
  #numbers = 0
  /** Deferred values that have not settled. */
  #pending = 0
  #closed = false
  #wake: (() => void) | null = null
  /** Iterables that wait for the client. */
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

  /** The client left: nobody waits for what is still to come. */
  async return(): Promise<IteratorResult<string, undefined>> {
    this.#closed = true
    this.#wake?.()
    this.#release()
    for (const iterator of this.#iterators) stop(iterator)
    return { done: true, value: undefined }
  }

  /** What a reply to the call by itself would be; its data is deferred, since only then clients look into it. */
  async #replyOf(call: Promise<unknown>, path: string): Promise<object> {
    try {
      const data = await call
      return { result: Promise.resolve({ data: Promise.resolve(data) }) }
    } catch (error) {
      return { error: failed(this.#ctx, error, path) }
    }
  }

  /** Looks at a value and its own members, and no deeper. */
  #encode(value: unknown, path: string): Encoded {
    if (value === undefined) return [[]]
    const whole = this.#defer(value, path)
    if (whole !== null) return [[0], [null, ...whole]]
    if (!isPlain(value)) return [[value]]
    const members: [string, unknown][] = []
    const references: Reference[] = []
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
      // It may be that of writing, and the generator is still there.
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
      // Data of an error that JSON has nothing for, or a transformer that does not take it.
      this.#ctx.app.report(second, this.#ctx)
      this.#lines += `${JSON.stringify([number, status, shapeOf(second, path)])}\n`
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
