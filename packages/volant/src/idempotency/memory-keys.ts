/** `memoryKeys()` keeps texts by key in this process. */
import { bad } from '../options/bad-option.ts'
import { checkInteger, checkNames } from '../options/checks.ts'
import { printLine } from '../report/print-line.ts'
import { refuseWorkers } from '../worker/one-process.ts'
import type { DelOptions, KeyStore } from '../types/store.ts'
import { type OwnedSetOptions, StoreFull } from './full.ts'
import { lostText } from './records.ts'

/** The options of `memoryKeys`. */
export interface MemoryKeysOptions {
  /**
   * The most bytes of keys and values, from 65,536 to 4 GiB, with 200 for each key beside its own. Where there is no room,
   * the oldest replies are forgotten, and their keys stay: their repetitions are answered with 409 and do not run. The
   * replies of one caller have a sixteenth of it, and all keys of one caller a quarter. Where no reply is left to forget,
   * `set` rejects. Default 64 MiB, 67,108,864.
   */
  maxSize?: number | undefined
}

/** What an entry costs beside its texts. */
const overhead = 200
/** The milliseconds between two looks at all entries, where there is no room. */
const sweepInterval = 1_000

/** The parts of `maxSize` that the replies, and all keys, of one caller have. */
const replyShare = 1 / 16
const ownerShare = 1 / 4

interface Entry {
  value: string
  size: number
  /** On the clock of `performance.now()`. */
  readonly expires: number
  /** The caller that the key is counted for. */
  readonly owner: string | undefined
}

/** What one caller has here. */
interface Owner {
  size: number
  /** What its replies have of that. */
  replySize: number
  /** The keys of its replies, the oldest first. */
  readonly replies: Set<string>
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
    [65_536, 4_294_967_296],
    'bytes from 65,536 to 4,294,967,296',
  )
  refuseWorkers('memoryKeys', 'keys', 'redisKeys(client) of volant/redis')
  return new MemoryKeys(most)
}

class MemoryKeys implements KeyStore {
  readonly #most: number
  /** In the order in which they were written, which is about that in which they expire. */
  readonly #entries = new Map<string, Entry>()
  /** The keys of all replies, the oldest first. */
  readonly #replies = new Set<string>()
  readonly #owners = new Map<string, Owner>()
  #size = 0
  #swept = 0
  #isTold = false

  constructor(most: number) {
    this.#most = most
  }

  async get(key: string): Promise<string | null> {
    return this.#find(key)?.value ?? null
  }

  async set(
    key: string,
    value: string,
    { ifAbsent = false, ifEqual, expires = Infinity, owner }: OwnedSetOptions = {},
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
    this.#place(key, value, performance.now() + expires, owner ?? known?.owner)
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

  /** Writes the value, or of a reply that has no room what says that it was lost. */
  #place(key: string, value: string, expires: number, owner: string | undefined): void {
    this.#forgetExpired()
    const short = lostText(value)
    let text = value
    let size = sizeOf(key, text)
    let isReply = short !== null
    if (!this.#makeRoom(key, size, owner, isReply)) {
      if (short === null) throw this.#full(key, size, owner)
      this.#tellShort()
      text = short
      size = sizeOf(key, text)
      isReply = false
      if (!this.#makeRoom(key, size, owner, false)) throw this.#full(key, size, owner)
    }
    this.#forget(key)
    this.#entries.set(key, { value: text, size, expires, owner })
    this.#size += size
    if (isReply) this.#replies.add(key)
    if (owner === undefined) return
    let theirs = this.#owners.get(owner)
    if (theirs === undefined)
      this.#owners.set(owner, (theirs = { size: 0, replySize: 0, replies: new Set() }))
    theirs.size += size
    if (!isReply) return
    theirs.replySize += size
    theirs.replies.add(key)
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#size -= entry.size
    this.#entries.delete(key)
    this.#replies.delete(key)
    if (entry.owner === undefined) return
    const theirs = this.#owners.get(entry.owner) as Owner
    theirs.size -= entry.size
    if (theirs.replies.delete(key)) theirs.replySize -= entry.size
    if (theirs.size === 0) this.#owners.delete(entry.owner)
  }

  /** Forgets a reply. Its key stays for its time, so that the request does not run again. */
  #shorten(key: string): void {
    this.#tellShort()
    const entry = this.#entries.get(key) as Entry
    entry.value = lostText(entry.value) as string
    const size = sizeOf(key, entry.value)
    const before = entry.size
    entry.size = size
    this.#size += size - before
    this.#replies.delete(key)
    if (entry.owner === undefined) return
    const theirs = this.#owners.get(entry.owner) as Owner
    theirs.size += size - before
    theirs.replySize -= before
    theirs.replies.delete(key)
  }

  /** Forgets old replies until `size` bytes fit in place of what the key has. Gives false where they do not fit then. */
  #makeRoom(key: string, size: number, owner: string | undefined, isReply: boolean): boolean {
    const forReplies = this.#most * replyShare
    // No other reply is forgotten for one that does not fit in any case.
    if (isReply && size > (owner === undefined ? this.#most : forReplies)) return false
    const grown = (): number => size - (this.#entries.get(key)?.size ?? 0)
    const isOver = (): boolean => this.#size + grown() > this.#most
    const theirs = owner === undefined ? undefined : this.#owners.get(owner)
    const isTheirsOver = (): boolean =>
      theirs !== undefined &&
      ((isReply && theirs.replySize + size > forReplies) || theirs.size + grown() > this.#most * ownerShare)
    if (isOver() || isTheirsOver()) this.#sweep()
    for (const reply of theirs?.replies ?? []) {
      if (!isTheirsOver()) break
      this.#shorten(reply)
    }
    if (isTheirsOver()) return false
    for (const reply of this.#replies) {
      if (!isOver()) break
      this.#shorten(reply)
    }
    return !isOver()
  }

  /** Two steps for each entry that is added keep up with what expires in its order. */
  #forgetExpired(): void {
    const now = performance.now()
    let steps = 2
    for (const [key, { expires }] of this.#entries) {
      if (expires > now || steps-- === 0) break
      this.#forget(key)
    }
  }

  /** Forgets all that has expired, at most once in a second. */
  #sweep(): void {
    const now = performance.now()
    if (now - this.#swept <= sweepInterval) return
    this.#swept = now
    for (const [key, { expires }] of this.#entries) if (expires <= now) this.#forget(key)
  }

  #full(key: string, size: number, owner: string | undefined): StoreFull {
    const most = Math.floor(this.#most * ownerShare)
    const held = (owner === undefined ? undefined : this.#owners.get(owner))?.size ?? 0
    const grown = size - (this.#entries.get(key)?.size ?? 0)
    const who =
      owner !== undefined && held + grown > most
        ? `memoryKeys() has no room for another key of a caller: it has ${held} bytes, and ${most} are for one caller, a quarter of maxSize`
        : `memoryKeys() is full: ${this.#size} bytes are kept, and maxSize is ${this.#most}`
    return new StoreFull(
      `${who}. Raise maxSize, keep replies for a shorter time, put rateLimit() in front, or use redisKeys(client)`,
    )
  }

  #tellShort(): void {
    if (this.#isTold) return
    this.#isTold = true
    printLine(
      `volant: memoryKeys() has no room for all replies: the oldest are forgotten, those of a caller that has a sixteenth of maxSize first, and their repetitions are answered with 409 E_IDEMPOTENCY_LOST. Raise maxSize, which is ${this.#most} bytes, or use redisKeys(client). This is said once`,
    )
  }
}

function sizeOf(key: string, value: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(value) + overhead
}
