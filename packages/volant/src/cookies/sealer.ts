/** Authenticated encryption of small texts: by the engine, or by node:crypto where the engine does not load. */
import { nativeSealer, type TextSealer } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { deriveKeys, type DerivedKey } from './key-ring.ts'
import { longestName, longestText, nodeSealer } from './node-sealing.ts'

/** What was opened. `isNewest` is false if an older key than the first had sealed it. */
export interface Opened {
  readonly text: string
  readonly isNewest: boolean
}

export interface Sealer {
  /** Seals a text under a name. Unpaired surrogates become U+FFFD. Throws `E_BAD_COOKIE` if text or name is too long. */
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
export function sealerOf(keys: readonly (string | undefined)[], purpose: string, where = 'keys'): Sealer {
  const derived = deriveKeys(keys, `seal ${purpose}`, where)
  return sealerBy(nativeSealer(bytesOf(derived)) ?? nodeSealer(derived), derived)
}

/** Makes a sealer of one implementation. */
export function sealerBy(implementation: TextSealer, derived: readonly DerivedKey[]): Sealer {
  const newest = `v1.${derived[0]?.id}.`
  return {
    seal(name, text) {
      const sealed = implementation.seal(name, text)
      if (sealed !== null) return sealed
      throw new VolantError(
        'E_BAD_COOKIE',
        `a text of ${Buffer.byteLength(text)} bytes cannot be sealed under a name of ${Buffer.byteLength(name)}: the most are ${longestText} and ${longestName}`,
      )
    },
    open(name, sealed) {
      const text = typeof sealed === 'string' ? implementation.open(name, sealed) : null
      return text === null ? null : { text, isNewest: sealed.startsWith(newest) }
    },
  }
}

/** Gives the keys as the engine takes them. */
export function bytesOf(derived: readonly DerivedKey[]): Uint8Array {
  return Buffer.concat(derived.flatMap(({ id, secret }) => [secret, Buffer.from(id, 'base64url')]))
}
