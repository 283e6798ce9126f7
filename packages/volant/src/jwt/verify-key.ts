/** Verifies tokens that are signed with a private key. `jose` verifies the signature, and is loaded when it is needed. */
import type { KeyObject } from 'node:crypto'
import type { KeyAlgorithm } from './algorithms.ts'
import { type ClaimPlan, faultOf } from './claims.ts'
import { fits } from './keys.ts'
import { type Claims, type Fault, isCanonical, isCompact, readHeader, readObject } from './token.ts'
import { isOfType } from './verify-secret.ts'

/** Gives the keys that a token may be signed with; none where it knows none. */
export type KeysFor = (
  header: { readonly alg: KeyAlgorithm; readonly kid: unknown },
  report: (error: Error) => void,
) => readonly (KeyObject | CryptoKey)[] | Promise<readonly (KeyObject | CryptoKey)[]>

/** Verifies a token. It gives the claims, or why it is refused. */
export type KeyVerifier = (token: string, report: (error: Error) => void) => Promise<Claims | Fault>

export function keyVerifier(
  keysFor: KeysFor,
  algorithms: readonly KeyAlgorithm[],
  maxTokenSize: number,
  plan: ClaimPlan,
): KeyVerifier {
  return async (token, report) => {
    if (token.length > maxTokenSize) return 'size'
    const first = token.indexOf('.')
    const last = token.lastIndexOf('.')
    if (!isCompact(token, first, last) || !isCanonical(token.slice(last + 1))) return 'form'
    const header = readHeader(token.slice(0, first))
    if (typeof header === 'string') return header
    const { typ, kid } = header
    const alg = header.alg as KeyAlgorithm
    if (!algorithms.includes(alg)) return 'algorithm'
    if (!isOfType(typ, plan)) return 'type'
    const keys = await keysFor({ alg, kid }, report)
    if (keys.length === 0) return 'key'
    if (!(await isSigned(token, alg, keys))) return 'signature'
    const claims = readObject(token.slice(first + 1, last))
    if (claims === null) return 'claims'
    return faultOf(claims, plan, Math.floor(Date.now() / 1_000)) ?? claims
  }
}

/** Gives the keys of a list that fit the algorithm of a token. */
export function listedKeys(keys: readonly KeyObject[]): KeysFor {
  return ({ alg }) => keys.filter((key) => fits(key, alg))
}

async function isSigned(
  token: string,
  alg: KeyAlgorithm,
  keys: readonly (KeyObject | CryptoKey)[],
): Promise<boolean> {
  const { compactVerify } = await import('jose/jws/compact/verify')
  for (const key of keys) {
    try {
      await compactVerify(token, key, { algorithms: [alg] })
      return true
    } catch {
      // Another key may fit.
    }
  }
  return false
}
