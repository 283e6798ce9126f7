/** An EventSource for Node.js, which has none before 24: what `httpSubscriptionLink` needs of it, over `fetch`. */

/** One event as listeners get it. */
export interface ServerEvent {
  readonly type: string
  readonly data: string
  readonly lastEventId: string
}

type Listener = (event: never) => void

export class FetchEventSource {
  static readonly CONNECTING = 0
  static readonly OPEN = 1
  static readonly CLOSED = 2
  readonly CONNECTING = 0
  readonly OPEN = 1
  readonly CLOSED = 2
  readyState = 0
  readonly url: string
  readonly #listeners = new Map<string, Listener[]>()
  #controller = new AbortController()
  #lastId = ''

  constructor(url: string | URL, _options?: object) {
    this.url = String(url)
    void this.#run()
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  removeEventListener(type: string, listener: Listener): void {
    const left = (this.#listeners.get(type) ?? []).filter((each) => each !== listener)
    this.#listeners.set(type, left)
  }

  close(): void {
    this.readyState = 2
    this.#controller.abort()
  }

  /** Connects again whenever the stream ends, until it is closed. */
  async #run(): Promise<void> {
    while (this.readyState !== 2) {
      try {
        const headers = {
          accept: 'text/event-stream',
          ...(this.#lastId && { 'last-event-id': this.#lastId }),
        }
        const reply = await fetch(this.url, { headers, signal: this.#controller.signal })
        if (reply.status !== 200 || !reply.headers.get('content-type')?.startsWith('text/event-stream')) {
          this.readyState = 2
          this.#tell('error', {})
          return
        }
        this.readyState = 1
        this.#tell('open', {})
        await this.#read(reply.body as ReadableStream<Uint8Array<ArrayBuffer>>)
      } catch {
        // Closed, or the connection is lost.
      }
      if ((this.readyState as number) === 2) return
      this.readyState = 0
      this.#tell('error', {})
      // A browser waits for seconds.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let text = ''
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const blocks = text.split('\n\n')
      text = blocks.pop() as string
      for (const block of blocks) this.#dispatch(block)
    }
  }

  #dispatch(block: string): void {
    let type = 'message'
    const data: string[] = []
    for (const line of block.split('\n')) {
      const [, name, value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
      if (name === 'event') type = value
      else if (name === 'data') data.push(value)
      else if (name === 'id') this.#lastId = value
    }
    if (data.length === 0 || (data.length === 1 && data[0] === '' && type === 'message')) return
    this.#tell(type, { data: data.join('\n'), lastEventId: this.#lastId })
  }

  #tell(type: string, event: object): void {
    for (const listener of this.#listeners.get(type) ?? []) listener({ type, ...event } as never)
  }
}
