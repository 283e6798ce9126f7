/** Server-sent events as handlers give them: WHATWG HTML §9.2. */

/** One event. A field that is left out is not sent. */
export interface ServerSentEvent {
  /** Text is sent as it is, any other value as JSON. Pages get no event without `data`; an empty text is data. */
  readonly data?: unknown
  /** The type of the event, for `addEventListener`. Default `message`. It has no line break. */
  readonly event?: string | undefined
  /** The id that the client sends as Last-Event-ID when it connects again. It has no line break and no NUL. */
  readonly id?: string | number | undefined
  /** The milliseconds that the client waits before it connects again, from now on. */
  readonly retry?: number | undefined
  /** A comment, which pages do not see. */
  readonly comment?: string | undefined
}

/** An event in the bytes that are sent: `encodeEvent` makes it, once for all the streams that get it. */
export interface EncodedEvent {
  /** The bytes, in UTF-8. They must not be changed. */
  readonly bytes: Uint8Array
}

/** The stream of one client, as a callback of `ctx.sse` gets it. */
export interface EventStream {
  /**
   * Sends an event, or a value of which `data` is made. False when more than 64 KiB wait because the client reads slowly:
   * `await drained()` before the next, or leave events out. Events that are sent nevertheless wait, up to `maxBuffer`.
   * After the end it does nothing, and gives false. Throws `E_BAD_EVENT` and `E_NOT_SERIALISABLE`.
   */
  send(event: unknown): boolean
  /** Resolves when the client has read what waited, or the stream is over. */
  drained(): Promise<void>
  /** Ends the stream once all was sent. Browsers connect again: a reply of 204 to that stops them. */
  close(): void
  /** True once it was closed, the client disconnected, or the server closes. */
  readonly closed: boolean
}

/** Sets a stream up, and may give a function that is called once when the stream is over. */
export type EventSender = (stream: EventStream) => void | (() => void) | Promise<void | (() => void)>

/** Where events come from: a generator or another iterable, a function that makes one, or one that sends by itself. */
export type EventsSource =
  | AsyncIterable<unknown>
  | Iterable<unknown>
  | ((stream: EventStream) => AsyncIterable<unknown> | Generator)
  | EventSender

/** The options of `ctx.sse`. */
export interface EventsOptions {
  /**
   * The milliseconds of silence after which a comment is sent at the latest, so that proxies keep the connection and a
   * lost client is noticed. 0 sends none. Default 15,000.
   */
  heartbeat?: number | undefined
  /** The milliseconds that clients wait before they connect again. Default: the client's own, 3 to 5 s in browsers. */
  retry?: number | undefined
  /**
   * The bytes that may wait for a client that reads slowly; above, its connection is reset, and it connects again. Default
   * 1 MiB (1,048,576).
   */
  maxBuffer?: number | undefined
}
