/** The algorithms of signatures (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864 §2), and which of them may stand together. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'

/** The algorithms that sign and verify with one secret. */
export type SecretAlgorithm = 'HS256' | 'HS384' | 'HS512'

/** The algorithms that sign with a private key and verify with the public one. */
export type KeyAlgorithm =
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'EdDSA'
  | 'Ed25519'

/** An algorithm of a signature. */
export type JwtAlgorithm = SecretAlgorithm | KeyAlgorithm

/** The hash of each algorithm with a secret, the bytes of its result, and the characters of a signature. */
export const secretAlgorithms: Readonly<
  Record<SecretAlgorithm, { readonly hash: string; readonly bytes: number; readonly characters: number }>
> = {
  HS256: { hash: 'sha256', bytes: 32, characters: 43 },
  HS384: { hash: 'sha384', bytes: 48, characters: 64 },
  HS512: { hash: 'sha512', bytes: 64, characters: 86 },
}

/** The type of key that each algorithm needs, as `KeyObject` names it, and the curve where there are several. */
export const keyAlgorithms: Readonly<
  Record<KeyAlgorithm, { readonly type: 'rsa' | 'ec' | 'ed25519'; readonly curve?: string }>
> = {
  RS256: { type: 'rsa' },
  RS384: { type: 'rsa' },
  RS512: { type: 'rsa' },
  PS256: { type: 'rsa' },
  PS384: { type: 'rsa' },
  PS512: { type: 'rsa' },
  ES256: { type: 'ec', curve: 'prime256v1' },
  ES384: { type: 'ec', curve: 'secp384r1' },
  ES512: { type: 'ec', curve: 'secp521r1' },
  EdDSA: { type: 'ed25519' },
  Ed25519: { type: 'ed25519' },
}

export function isSecretAlgorithm(name: string): name is SecretAlgorithm {
  return Object.hasOwn(secretAlgorithms, name)
}

function isKeyAlgorithm(name: string): name is KeyAlgorithm {
  return Object.hasOwn(keyAlgorithms, name)
}

/** Gives the algorithms that `algorithms` names, where all of them are for a secret. Throws `E_BAD_OPTION`. */
export function checkSecretAlgorithms(where: string, given: unknown): readonly SecretAlgorithm[] {
  return checkAlgorithms(where, given).map((name) => {
    if (isSecretAlgorithm(name)) return name
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: ${name} needs a public key, and there is a secret: write key in place of secret, or one of ${names(secretAlgorithms)}`,
    )
  })
}

/** Gives the algorithms that `algorithms` names, where none of them is for a secret. Throws `E_BAD_OPTION`. */
export function checkKeyAlgorithms(where: string, given: unknown): readonly KeyAlgorithm[] {
  return checkAlgorithms(where, given).map((name) => {
    if (isKeyAlgorithm(name)) return name
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: ${name} would take a public key, which everybody may know, as its secret, and anybody could sign: leave it out. It has ${names(keyAlgorithms)}`,
    )
  })
}

/** Checks a list of algorithms that may be of either kind, not of both. */
function checkAlgorithms(where: string, given: unknown): readonly JwtAlgorithm[] {
  const wanted = `a list of the algorithms that are accepted, such as ['HS256']; it has ${names(secretAlgorithms)}, ${names(keyAlgorithms)}`
  if (!Array.isArray(given) || given.length === 0) throw bad(where, given, wanted)
  const list = given as readonly unknown[]
  for (const name of list) {
    if (typeof name !== 'string') throw bad(where, name, wanted)
    if (isSecretAlgorithm(name) || isKeyAlgorithm(name)) continue
    if (name.toLowerCase() === 'none') {
      throw new VolantError(
        'E_BAD_OPTION',
        `${where}: a token with the algorithm "none" has no signature, so that anybody could write one: leave it out`,
      )
    }
    throw bad(where, name, wanted)
  }
  return list as readonly JwtAlgorithm[]
}

function names(table: object): string {
  return Object.keys(table).join(', ')
}
