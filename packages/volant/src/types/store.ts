/** Stores of texts by key, which processes may share. `memoryKeys` and `redisKeys` are such stores. */

/** What has to be so that `set` writes. */
export interface SetOptions {
  /** True writes only where the key has no value. */
  ifAbsent?: boolean | undefined
  /** Writes only where the key has this value. */
  ifEqual?: string | undefined
  /** The milliseconds after which the value is gone, an integer from 1. Default: it stays. */
  expires?: number | undefined
}

/** What has to be so that `del` deletes. */
export interface DelOptions {
  /** Deletes only where the key has this value. */
  ifEqual?: string | undefined
}

/**
 * Keeps texts by key. Each call is one step: what others do comes before it or after it. A call rejects where the store
 * cannot be asked now; it does not wait for a connection.
 */
export interface KeyStore {
  /** Gives the value; null where there is none, or its time is over. */
  get(key: string): Promise<string | null>
  /** Writes a value. Gives false where a condition did not hold, and nothing was written. */
  set(key: string, value: string, options?: SetOptions): Promise<boolean>
  /** Forgets a value. Gives false where there was none, or another. */
  del(key: string, options?: DelOptions): Promise<boolean>
}

/** A store that also runs scripts, each of them as one step. */
export interface Store extends KeyStore {
  /**
   * Runs a script of the store's language, Lua for Redis and Valkey, with the keys that it touches and other arguments. The
   * text of the script is best a constant: the store remembers it.
   */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown>
}
