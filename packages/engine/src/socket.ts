/**
 * The contract of WebSockets (RFC 6455): one socket, as an adapter offers it to the framework. It is what an exchange
 * becomes by `Exchange.accept`.
 */

/** What the adapter calls, each time inside the async context of the socket's exchange. Nothing is called after `close`. */
export interface SocketEvents {
  /** A whole message: a string for text, a Buffer for binary. The Buffer belongs to the receiver. */
  message(data: string | Buffer): void
  /** All that waited was sent, after a `send` that returned false. */
  drain(): void
  /** So many messages to this socket were dropped, since its route has `whenFull: 'drop'`. */
  dropped(messages: number): void
  /**
   * The socket is closed, and the connection given up. `code` is the one that the client sent, or the one that the server
   * sent first; 1005 if a close frame had none, 1006 without a close frame (RFC 6455 §7.1.5).
   */
  close(code: number, reason: string): void
}

/** A WebSocket. Every method is ignored once the socket is closed. */
export interface ServerSocket {
  /** True once `close` or `terminate` was called, or the client has sent a close frame or is gone. */
  readonly closing: boolean
  /** How many bytes wait to be sent. */
  readonly bufferedAmount: number
  /**
   * Sends a message: text for a string, else binary. Gives false where more than 64 KiB wait to be sent: `drain` is called
   * once they are sent. Past `maxBuffered` the socket is closed with 1013, or the message dropped, unless nothing waits
   * before it. The bytes are copied or sent when it returns.
   */
  send(data: string | Uint8Array): boolean
  /**
   * Starts the closing handshake: sends a close frame, after which no message is sent or received. After `closeTimeout` the
   * connection is reset. `code` and `reason` are checked by the caller; `code` 1005, the default, sends none.
   */
  close(code?: number, reason?: string): void
  /** Resets the connection without a closing handshake. `SocketEvents.close` follows with 1006. */
  terminate(): void
  /** Has the socket get what is published to `topic`, an exact name. A second time changes nothing. */
  subscribe(topic: string): void
  unsubscribe(topic: string): void
  /** Sends a message to the subscribers of `topic` but this socket. */
  publish(topic: string, data: string | Uint8Array): void
}

/** How the sockets of a route behave. */
export interface SocketRoute {
  /** The most bytes of a received message, after decompression. Past it the socket is closed with 1009. */
  readonly maxMessageSize: number
  /** The most frames of a received message. Past it the socket is closed with 1009. */
  readonly maxFragments: number
  /**
   * Milliseconds without a frame from the client, after which the connection is reset; 0 for never. After half of it the
   * server sends a ping.
   */
  readonly idleTimeout: number
  /** Milliseconds that the client has for its part of the closing handshake. Then the connection is reset. */
  readonly closeTimeout: number
  /** The most bytes that may wait to be sent to one socket. */
  readonly maxBuffered: number
  /** What happens past `maxBuffered`: the socket is closed with 1013, or the message is dropped. */
  readonly whenFull: 'close' | 'drop'
  /**
   * Messages from this many bytes on are compressed where the client offers permessage-deflate (RFC 7692); −1 where the
   * extension is not used. There is no context takeover in either direction.
   */
  readonly compressFrom: number
}
