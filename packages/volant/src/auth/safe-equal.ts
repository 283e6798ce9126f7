/** Compares secrets in a time that does not depend on them. */
import { hash, timingSafeEqual } from 'node:crypto'

/** The memory of digests that are compared: that of a new Buffer takes as long as the hash. */
const one = Buffer.alloc(32)
const other = Buffer.alloc(32)

/**
 * True where both are the same text or bytes. The time it takes tells nothing of where they differ, nor of their
 * lengths beyond what hashing takes.
 */
export function safeEqual(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(digestInto(one, a), digestInto(other, b))
}

function digestInto(memory: Buffer, secret: string | Uint8Array): Buffer {
  memory.write(hash('sha256', secret, 'binary'), 'latin1')
  return memory
}

/** Secrets with what each of them stands for. The secrets themselves are not kept. */
export class SecretTable<Owner> {
  readonly #digests: readonly Buffer[]
  readonly #owners: readonly Owner[]

  constructor(entries: readonly (readonly [owner: Owner, secret: string])[]) {
    this.#digests = entries.map(([, secret]) => digestInto(Buffer.alloc(32), secret))
    this.#owners = entries.map(([owner]) => owner)
  }

  /** Gives the owner of a secret, or null. All secrets are compared, whichever matches. */
  find(secret: string): { readonly owner: Owner } | null {
    const given = digestInto(one, secret)
    let found = -1
    for (let at = 0; at < this.#digests.length; at++) {
      if (timingSafeEqual(given, this.#digests[at] as Buffer)) found = at
    }
    return found === -1 ? null : { owner: this.#owners[found] as Owner }
  }
}
