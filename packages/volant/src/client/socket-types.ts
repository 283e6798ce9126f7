/** The types of `connect`: its options, the events of a socket, and what it needs of a platform's WebSocket. */
import type { HeaderValue, LooseInput } from './types.ts'

declare const socket: unique symbol

/**
 * What `connect` takes for a WebSocket route of an API: `client.chat`. `Sent` are the messages that the server takes, `Received`
 * those that it sends.
 */
export interface SocketOperation<Input, Sent, Received> {
  /** This property carries types alone and does not exist at run time. */
  readonly [socket]: { input: Input; sent: Sent; received: Received }
}

/** A message that no schema describes is text or bytes. */
export type RawMessage = string | Uint8Array<ArrayBuffer>

/** The input of a connection, or a function that gives it for each attempt, so that a token in it is a fresh one. */
export type SocketInput<Input> = Input | (() => Input | Promise<Input>)

/** The input for a route whose types are not known. */
export type LooseSocketInput = Omit<LooseInput, 'body'>

/** What `connect` takes as options. All times are in milliseconds. */
export interface ConnectOptions<Sent = unknown> {
  /** Closes the socket for good. Loops over its messages then throw the signal's reason. */
  signal?: AbortSignal | undefined
  /** The subprotocols that the server may choose from (RFC 6455 §1.9), or a function that gives them for each attempt. */
  protocols?: readonly string[] | (() => readonly string[] | Promise<readonly string[]>) | undefined
  /**
   * Headers that are added to the client's, for platforms that send any: Node.js, Bun and Deno. Browsers send none, so
   * that there a socket with headers of its own is closed with an error.
   */
  headers?: Readonly<Record<string, HeaderValue>> | undefined
  /** Says how a lost connection is made again. With `false` the socket is closed instead. Default `true`. */
  reconnect?: boolean | ReconnectOptions | undefined
  /** The time that one attempt to connect may take, from 1 to 2,147,483,647; default 10,000. */
  connectTimeout?: number | undefined
  /** How a connection that broke in silence is found; `false` for not at all. */
  heartbeat?: false | HeartbeatOptions<Sent> | undefined
  /** The most messages that wait for a connection; default 1,000. `send` returns false for one more. */
  maxQueuedMessages?: number | undefined
  /**
   * The most bytes that wait for a connection, and to be sent by an open one; default 1,048,576. `send` returns false
   * past it.
   */
  maxQueuedBytes?: number | undefined
  /** The class that makes the connections. Default: the global one, which Node.js has from 22 on. */
  WebSocket?: WebSocketClass | undefined
}

/** How lost connections are made again. */
export interface ReconnectOptions {
  /**
   * The longest wait before the first attempt; default 250. It doubles with each further one. Each wait is a random part
   * of it, from nothing to all, so that the clients of a restarted server do not come at once.
   */
  delay?: number | undefined
  /** The bound of all waits; default 30,000. */
  maxDelay?: number | undefined
  /** The time after which an open connection counts as stable: the next wait is a first one again. Default 5,000. */
  stableAfter?: number | undefined
  /**
   * How many attempts may fail one after the other. Default: 10 as long as no connection was ever open, since a refusal
   * looks like a failure there; afterwards there is no limit.
   */
  retries?: number | undefined
  /**
   * Says whether a connection that was open is made again after this end. Default: after the codes 1001, 1006, 1011,
   * 1012, 1013 and 1014 (RFC 6455 §7.4).
   */
  when?: ((end: Readonly<{ code: number; reason: string }>) => boolean) | undefined
}

/** How a connection that broke in silence is found. */
export interface HeartbeatOptions<Sent = unknown> {
  /**
   * The time without anything received after which the client asks; default 30,000. Without an answer in the same time
   * the connection is given up as lost.
   */
  interval?: number | undefined
  /**
   * The message that asks. The server has to answer it, with any message. Default: a ping frame, which the class `ws`
   * and Bun can send. Without either, as in browsers, there is no heartbeat.
   */
  message?: Sent | undefined
}

/** What `open` tells. */
export interface SocketOpen {
  /** False where this is the first connection. */
  readonly reconnected: boolean
  /** The subprotocol is the one that the server chose; it is empty where it chose none. */
  readonly protocol: string
}

/** What `close` tells about the end of a connection, or of an attempt to get one. */
export interface SocketClose {
  /**
   * The code of the close frame; 1005 if it had none, 1006 without a close frame (RFC 6455 §7.1.5), as after any
   * failed attempt.
   */
  readonly code: number
  /** The reason of the close frame. */
  readonly reason: string
  /** True if the connection was open before. */
  readonly opened: boolean
  /** True if there will be no other connection: nothing follows. */
  readonly final: boolean
  /** How long it is until the next attempt. */
  readonly retryIn?: number
  /** Why there is no connection, as far as the platform tells. Browsers tell nothing. */
  readonly error?: Error
}

/** The events that a socket has, by name. */
export interface SocketEvents<Sent, Received> {
  /** A connection is open. What a listener sends goes before what has waited. */
  open: SocketOpen
  /** A message has come. */
  message: Received
  /** A connection has ended, or could not be had. */
  close: SocketClose
  /** The messages that waited and will never be sent, since the socket is closed; `close` follows. */
  dropped: readonly Sent[]
  /** A message that is not what the route says, or the reason why there is no connection and will be none. */
  error: Error
}

/**
 * The phase of a socket: `waiting` is the time before the next attempt, `closed` is final. `closing` is the time of the
 * closing handshake that this side began.
 */
export type SocketState = 'connecting' | 'open' | 'waiting' | 'closing' | 'closed'

/** A class that makes WebSockets: that of the platform, or of the package `ws`. */
export interface WebSocketClass {
  /** Begins to connect; headers are in an object in the place of the subprotocols. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each platform has other options
  new (url: string, protocols?: any): PlatformSocket
}

/** What is used of a platform's WebSocket (HTML §9.3). */
export interface PlatformSocket {
  /** `arraybuffer` is set. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the types of platforms allow different texts
  binaryType: any
  /** The bytes that were given to `send` and not yet to the network. */
  readonly bufferedAmount: number
  /** The subprotocol is the one that the server chose. */
  readonly protocol: string
  /** 0 while it connects, 1 while it is open, 2 during the closing handshake, 3 when it is closed. */
  readonly readyState: number
  /** Is called when it is open. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each platform has other types of events
  onopen: ((event: any) => void) | null
  /** Is called with each message in `data`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  onmessage: ((event: any) => void) | null
  /** Is called where no connection can be had; some platforms give a `message`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  onerror: ((event: any) => void) | null
  /** Is called at the end, with `code` and `reason`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  onclose: ((event: any) => void) | null
  /** Sends text or bytes. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  send(data: any): void
  /** Begins the closing handshake. */
  close(code?: number, reason?: string): void
}
