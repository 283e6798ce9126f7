/** Sets of keys (RFC 7517 §5), as they are given or as a server has them. */
import { createPublicKey } from 'node:crypto'
import { VolantError, refusal } from '../errors/errors.ts'
import { printLine } from '../report/print-line.ts'
import type { KeyAlgorithm } from './algorithms.ts'
import { fetchText } from './fetch-text.ts'
import { fits, isStrong, type JwtJsonKey } from './keys.ts'
import type { KeysFor } from './verify-key.ts'

type Header = Parameters<KeysFor>[0]
type Find = (header: Header) => Promise<readonly CryptoKey[]>

/** The most keys of a set that are looked at. */
const mostKeys = 100

/** What is decided about a key set on a server. All times are in milliseconds. */
export interface RemotePlan {
  readonly url: URL
  readonly algorithms: readonly KeyAlgorithm[]
  /** The time that the server has for its answer. */
  readonly timeout: number
  /** The least time between two requests. */
  readonly cooldown: number
  /** The time for which a set is used without asking again. */
  readonly cacheMaxAge: number
}

/** So long the last set is used while the server gives no other. */
const staleMs = 86_400_000
/** After a failure the next request may come this much later, then twice as much, up to the cooldown. */
const retryMs = 1_000

/**
 * Gives the function that finds keys in a set; null where no key of the set can verify a token. Keys of other kinds and
 * uses are left out, as RFC 7517 §5 asks; so are secrets and private keys, which nobody should publish.
 */
export async function keysIn(set: unknown, algorithms: readonly KeyAlgorithm[]): Promise<Find | null> {
  const { keys } = (set ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys)) return null
  const usable = keys.slice(0, mostKeys).filter((key) => isUsable(key, algorithms))
  if (usable.length === 0) return null
  const { createLocalJWKSet } = await import('jose/jwks/local')
  const local = createLocalJWKSet({ keys: usable })
  return async (header) => {
    try {
      return [await local(header as Parameters<typeof local>[0])]
    } catch (error) {
      // A token without the id of its key may fit several.
      const several = (error as Partial<AsyncIterable<CryptoKey>>)[Symbol.asyncIterator]
      if (several === undefined) return []
      const found: CryptoKey[] = []
      for await (const key of error as AsyncIterable<CryptoKey>) {
        found.push(key)
        if (found.length === mostCandidates) break
      }
      return found
    }
  }
}

/** The most keys that a token is tried with. */
const mostCandidates = 8

/** True for a public key that one of the algorithms may verify with. */
export function isUsable(given: unknown, algorithms: readonly KeyAlgorithm[]): boolean {
  if (typeof given !== 'object' || given === null) return false
  const { use, alg, d, k } = given as JwtJsonKey
  if (d !== undefined || k !== undefined || (use !== undefined && use !== 'sig')) return false
  try {
    const key = createPublicKey({ key: given as JwtJsonKey, format: 'jwk' })
    return isStrong(key) && algorithms.some((name) => fits(key, name) && (alg === undefined || alg === name))
  } catch {
    return false
  }
}

/** The key set of a server. It is fetched when a token needs it, by one request at a time. */
export class RemoteKeySet {
  readonly #plan: RemotePlan
  readonly #place: string
  #find: Find | null = null
  #text = ''
  #fetchedAt = -Infinity
  #nextAt = -Infinity
  #failures = 0
  #pending: Promise<void> | null = null

  constructor(plan: RemotePlan) {
    this.#plan = plan
    this.#place = plan.url.origin + plan.url.pathname
  }

  /** Gives the keys for a token. Rejects with 503 where it cannot be known. */
  readonly keysFor = async (
    header: Header,
    report: (error: Error) => void,
  ): Promise<readonly CryptoKey[]> => {
    const age = clock() - this.#fetchedAt
    if (age >= staleMs) {
      this.#find = null
      await this.#refresh(report)
    } else if (age >= this.#plan.cacheMaxAge) {
      const fetching = this.#refresh(report)
      // While the server is down nobody waits for it.
      if (this.#failures === 0) await fetching
    }
    const keys = await this.#find?.(header)
    if (keys !== undefined && keys.length > 0) return keys
    // The issuer may have a new key. A client that makes up ids causes one request in each cooldown.
    await this.#refresh(report)
    const later = (await this.#find?.(header)) ?? []
    if (later.length === 0 && (this.#find === null || this.#failures > 0)) throw this.#unavailable()
    return later
  }

  /** Fetches the set, unless that was tried too recently. Never rejects. */
  #refresh(report: (error: Error) => void): Promise<void> {
    if (this.#pending !== null) return this.#pending
    if (clock() < this.#nextAt) return done
    this.#pending = this.#fetch(report).finally(() => {
      this.#pending = null
    })
    return this.#pending
  }

  async #fetch(report: (error: Error) => void): Promise<void> {
    const { url, algorithms, timeout, cooldown } = this.#plan
    try {
      const text = await fetchText(url, timeout)
      if (text !== this.#text || this.#find === null) {
        const find = await keysIn(parsed(text), algorithms)
        if (find === null) throw new Error(`it has no key for ${algorithms.join(', ')}`)
        this.#find = find
        this.#text = text
      }
      this.#fetchedAt = clock()
      this.#nextAt = this.#fetchedAt + cooldown
      if (this.#failures > 0) printLine(`volant: the key set ${this.#place} is there again`)
      this.#failures = 0
    } catch (error) {
      this.#failures++
      const wait = Math.min(cooldown, retryMs * 2 ** Math.min(this.#failures - 1, 20))
      this.#nextAt = clock() + wait
      if (this.#failures === 1) report(this.#failure(error as Error))
    }
  }

  #failure(cause: Error): VolantError {
    const meanwhile =
      this.#find === null
        ? 'requests with its tokens are answered with 503'
        : 'the keys known so far are used'
    return new VolantError(
      'E_KEY_SET',
      `the key set ${this.#place} cannot be had (${cause.message}): until it can, ${meanwhile}. This is said once`,
      { cause },
    )
  }

  #unavailable(): Error {
    const seconds = Math.max(1, Math.ceil((this.#nextAt - clock()) / 1_000))
    return refusal('E_KEY_SET', 'Tokens cannot be verified now', { 'retry-after': String(seconds) })
  }
}

const done = Promise.resolve()

/** Gives whole milliseconds. */
function clock(): number {
  return Math.floor(performance.now())
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
}
