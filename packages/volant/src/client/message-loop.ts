/** Keeps the messages of a socket for one `for await` loop. */

/** How many messages may wait for a loop. A connection cannot be paused, so that a loop that is slower loses some. */
const mostMessages = 10_000

interface Waiting<T> {
  resolve(result: IteratorResult<T, undefined>): void
  reject(reason: unknown): void
}

export class MessageLoop<T> implements AsyncIterableIterator<T, undefined> {
  #messages: T[] = []
  readonly #waiting: Waiting<T>[] = []
  #isOver = false
  #failure: unknown
  readonly #release: () => void

  /** `release` is called when nobody reads any more. */
  constructor(release: () => void) {
    this.#release = release
  }

  push(message: T): void {
    const first = this.#waiting.shift()
    if (first) return first.resolve({ value: message, done: false })
    if (this.#messages.push(message) <= mostMessages) return
    this.#release()
    this.#messages = []
    this.end(new Error(`more than ${mostMessages} messages wait for a loop: let it read faster`))
  }

  /** Ends the loop after the messages that wait; with a failure it throws that. */
  end(failure?: unknown): void {
    this.#isOver = true
    this.#failure = failure
    // Only one of those that wait is told about the failure, as of any async iterator.
    for (const each of this.#waiting.splice(0)) void this.next().then(each.resolve, each.reject)
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    if (this.#messages.length) return { value: this.#messages.shift() as T, done: false }
    if (!this.#isOver) return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    return { value: undefined, done: true }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#release()
    this.#messages = []
    this.end()
    return { value: undefined, done: true }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
