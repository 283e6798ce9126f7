/** The clients of Redis: what is asked of them, each in its own words. */
import { hear } from './hear.ts'

/** What the store needs of a client of `redis`. */
export interface NodeRedisClient {
  /** Runs a script that the server knows. */
  evalSha(digest: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** Runs a script. */
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
  /** Deletes a key. */
  del(key: string): Promise<unknown>
  /** Adds a listener. */
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/** What the store needs of a client of `ioredis`. */
export interface IoRedisClient {
  /** Runs a script that the server knows. */
  evalsha(digest: string, keys: number, ...values: string[]): Promise<unknown>
  /** Runs a script. */
  eval(script: string, keys: number, ...values: string[]): Promise<unknown>
  /** Deletes a key. */
  del(key: string): Promise<unknown>
  /** Adds a listener. */
  on(event: 'error', listener: (error: unknown) => void): unknown
}

/** A client of `redis` or of `ioredis`. */
export type RedisClient = NodeRedisClient | IoRedisClient

export interface Asks {
  /** False where a command would wait for a connection. */
  isReady(): boolean
  runKnown(digest: string, keys: string[], values: string[]): Promise<unknown>
  run(script: string, keys: string[], values: string[]): Promise<unknown>
  forget(key: string): Promise<unknown>
}

/** Gives null for anything but a client. */
export function asksOf(client: RedisClient): Asks | null {
  const given = client as
    | Partial<Record<'evalSha' | 'evalsha' | 'eval' | 'del' | 'on', unknown>>
    | null
    | undefined
  if (typeof given !== 'object' || given === null) return null
  if ([given.eval, given.del, given.on].some((each) => typeof each !== 'function')) return null
  const asks =
    typeof given.evalSha === 'function'
      ? ofNodeRedis(client as NodeRedisClient)
      : typeof given.evalsha === 'function'
        ? ofIoRedis(client as IoRedisClient)
        : null
  if (asks !== null) hear(client)
  return asks
}

function ofNodeRedis(client: NodeRedisClient): Asks {
  return {
    // A cluster has no isReady, only isOpen.
    isReady: () => {
      const { isReady, isOpen } = client as { isReady?: boolean; isOpen?: boolean }
      return isReady ?? isOpen ?? true
    },
    runKnown: (digest, keys, values) => client.evalSha(digest, { keys, arguments: values }),
    run: (script, keys, values) => client.eval(script, { keys, arguments: values }),
    forget: (key) => client.del(key),
  }
}

function ofIoRedis(client: IoRedisClient): Asks {
  return {
    // With lazyConnect the first command connects a client that waits.
    isReady: () => {
      const { status } = client as { status?: string }
      return status === undefined || status === 'ready' || status === 'wait'
    },
    runKnown: (digest, keys, values) => client.evalsha(digest, keys.length, ...keys, ...values),
    run: (script, keys, values) => client.eval(script, keys.length, ...keys, ...values),
    forget: (key) => client.del(key),
  }
}
