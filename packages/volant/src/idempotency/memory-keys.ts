/** `memoryKeys()` keeps texts by key in this process. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkInteger, checkNames } from '../options/checks.ts'
import { refuseWorkers } from '../worker/one-process.ts'
import type { DelOptions, KeyStore, SetOptions } from '../types/store.ts'

/** The options of `memoryKeys`. */
export interface MemoryKeysOptions {
  /**
   * The most bytes of keys and values, from 1,024 to 4 GiB, with 100 for each key beside its own. Past it `set` rejects:
   * nothing that is kept is dropped before its time. Default 64 MiB, 67,108,864.
   */
  maxSize?: number | undefined
}

/** What an entry costs beside its texts. */
const overhead = 100
/** The milliseconds between two looks at all entries, where there is no room. */
const sweepInterval = 1_000

interface Entry {
  readonly value: string
  readonly size: number
  /** On the clock of `performance.now()`. */
  readonly expires: number
}

/**
 * Makes a store in memory, for development, tests, and apps of one process:
 *
 *     app.use(idempotency({ store: memoryKeys() }))
 *
 * Under `volant start` with several workers it is refused, since a request that is repeated may reach another one. Throws
 * `E_BAD_OPTION`.
 */
export function memoryKeys(options: MemoryKeysOptions = {}): KeyStore {
  checkNames('memoryKeys', options, ['maxSize'])
  const most = checkInteger(
    'memoryKeys: maxSize',
    options.maxSize ?? 67_108_864,
    [1_024, 4_294_967_296],
    'bytes from 1,024 to 4,294,967,296',
  )
  refuseWorkers('memoryKeys', 'keys', 'redisKeys(client) of volant/redis')
  return new MemoryKeys(most)
}

class MemoryKeys implements KeyStore {
  readonly #most: number
  /** In the order in which they were written, which is about that in which they expire. */
  readonly #entries = new Map<string, Entry>()
  #size = 0
  #swept = 0

  constructor(most: number) {
    this.#most = most
  }

  async get(key: string): Promise<string | null> {
    return this.#find(key)?.value ?? null
  }

  async set(
    key: string,
    value: string,
    { ifAbsent = false, ifEqual, expires = Infinity }: SetOptions = {},
  ): Promise<boolean> {
    if (ifAbsent && ifEqual !== undefined) {
      throw bad('set', { ifAbsent, ifEqual }, 'ifAbsent or ifEqual, which cannot both hold')
    }
    if (expires !== Infinity && (!Number.isSafeInteger(expires) || expires < 1)) {
      throw bad('set: expires', expires, 'milliseconds, an integer from 1')
    }
    const known = this.#find(key)
    if (ifAbsent && known !== null) return false
    if (ifEqual !== undefined && known?.value !== ifEqual) return false
    const size = Buffer.byteLength(key) + Buffer.byteLength(value) + overhead
    this.#makeRoom(size - (known?.size ?? 0))
    this.#forget(key)
    this.#entries.set(key, { value, size, expires: performance.now() + expires })
    this.#size += size
    return true
  }

  async del(key: string, { ifEqual }: DelOptions = {}): Promise<boolean> {
    const known = this.#find(key)
    if (known === null || (ifEqual !== undefined && known.value !== ifEqual)) return false
    this.#forget(key)
    return true
  }

  #find(key: string): Entry | null {
    const entry = this.#entries.get(key)
    if (entry === undefined) return null
    if (entry.expires > performance.now()) return entry
    this.#forget(key)
    return null
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#size -= entry.size
    this.#entries.delete(key)
  }

  #makeRoom(size: number): void {
    const now = performance.now()
    // Two steps for each that is added keep up with what expires in its order.
    let steps = 2
    for (const [key, { expires }] of this.#entries) {
      if (expires > now || steps-- === 0) break
      this.#forget(key)
    }
    if (this.#size + size > this.#most && now - this.#swept > sweepInterval) {
      this.#swept = now
      for (const [key, { expires }] of this.#entries) if (expires <= now) this.#forget(key)
    }
    if (this.#size + size > this.#most) {
      throw new VolantError(
        'E_IDEMPOTENCY_STORE',
        `memoryKeys() is full: ${this.#size} bytes are kept, and maxSize is ${this.#most}. Raise maxSize, keep replies for a shorter time, or use redisKeys(client)`,
      )
    }
  }
}
