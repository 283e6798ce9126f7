/** The clients of Redis as a bus uses them: one sends, its duplicate receives. */
import { ofIoRedis } from './bus-ioredis.ts'
import { ofNodeRedis } from './bus-node-redis.ts'

/** What a bus needs of a client of `redis` or `ioredis`, or of their clusters. */
export interface RedisBusClient {
  /** Sends a message to a channel. */
  publish(channel: string, message: never): Promise<unknown>
  /** Makes a client with the same options. */
  duplicate(...args: never[]): unknown
}

/** A client that sends. */
export interface Talks {
  readonly isCluster: boolean
  /** False where a command would wait for a connection. */
  isReady(): boolean
  publish(channel: string, bytes: Buffer, isSharded: boolean): Promise<unknown>
  /** Makes a client that receives. */
  listen(events: ListenerEvents): Listener
}

export interface ListenerEvents {
  readonly isSharded: boolean
  message(channel: string, bytes: Buffer): void
  /** It is connected, perhaps again. */
  up(): void
  /** It is no longer connected, and connects again by itself. */
  down(error: Error): void
  /** It will not connect again by itself. */
  ended(error: Error): void
}

/** A client that receives. */
export interface Listener {
  connect(): void
  subscribe(channels: readonly string[]): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  ping(): Promise<unknown>
  /** Ends the connection at once. */
  end(): void
}

/** Gives null for anything but a client. */
export function talksOf(client: RedisBusClient): Talks | null {
  const given = client as unknown as Record<string, unknown> | null | undefined
  if (typeof given !== 'object' || given === null) return null
  if (['publish', 'duplicate', 'on'].some((name) => typeof given[name] !== 'function')) return null
  if (typeof given['sSubscribe'] === 'function') return ofNodeRedis(given)
  return typeof given['ssubscribe'] === 'function' ? ofIoRedis(given) : null
}
