/**
 * Authenticated encryption of small texts (AES-256-GCM). A sealed text is `v1.ID.IV.CIPHERTEXT`, each part in
 * base64url: the id of the key, 96 random bits, and the ciphertext with its tag of 128 bits. Version, id and a name are
 * authenticated with it.
 */
import { deriveKeys } from './key-ring.ts'
import { nodeSealer } from './node-sealing.ts'

/** What was opened. `isNewest` is false if an older key than the first had sealed it. */
export interface Opened {
  readonly text: string
  readonly isNewest: boolean
}

export interface Sealer {
  /** Seals a text under a name. Unpaired surrogates become U+FFFD. Throws `E_BAD_COOKIE` for one past `longestText`. */
  seal(name: string, text: string): string
  /** Opens what was sealed under the same name; anything else gives null. It never throws for what clients send. */
  open(name: string, sealed: string): Opened | null
}

/**
 * Makes a sealer for one purpose: what it sealed opens for no other. The first key seals, and each of them opens.
 * `where` names the option in errors. Throws `E_BAD_OPTION` for keys that are too short.
 *
 * A key should seal no more than 2³² texts, since initialisation vectors are random (NIST SP 800-38D §8.3).
 */
export function sealerOf(keys: readonly string[], purpose: string, where = 'keys'): Sealer {
  return nodeSealer(deriveKeys(keys, `seal ${purpose}`, where))
}
