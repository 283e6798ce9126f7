/**
 * Verifies tokens that are signed with a secret (HMAC, RFC 7518 §3.2). It does not wait, as `jose` does for the thread
 * pool: the whole takes less time than the way there and back.
 */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { isSecretAlgorithm, type SecretAlgorithm, secretAlgorithms } from './algorithms.ts'
import { type ClaimPlan, faultOf } from './claims.ts'
import {
  type Claims,
  type Fault,
  isCompact,
  mediaTypeOf,
  readHeader,
  readObject,
  type TokenHeader,
} from './token.ts'

/** The most headers that are remembered: those of one issuer differ in `kid` at most. */
const mostHeaders = 16

/** Gives a function that verifies tokens. It gives their claims, or why they are refused. */
export function secretVerifier(
  secrets: readonly KeyObject[],
  algorithms: readonly SecretAlgorithm[],
  maxTokenSize: number,
  plan: ClaimPlan,
): (token: string) => Claims | Fault {
  /** The algorithms by the text of headers that were verified and are accepted. */
  const known = new Map<string, SecretAlgorithm>()
  return (token) => {
    if (token.length > maxTokenSize) return 'size'
    const first = token.indexOf('.')
    const last = token.lastIndexOf('.')
    if (!isCompact(token, first, last)) return 'form'
    const header = token.slice(0, first)
    const algorithm = known.get(header) ?? accepted(readHeader(header), algorithms, plan)
    if (!isSecretAlgorithm(algorithm)) return algorithm
    if (!isSigned(token.slice(0, last), token.slice(last + 1), algorithm, secrets)) return 'signature'
    if (known.size < mostHeaders) known.set(header, algorithm)
    const claims = readObject(token.slice(first + 1, last))
    if (claims === null) return 'claims'
    return faultOf(claims, plan, Math.floor(Date.now() / 1_000)) ?? claims
  }
}

function accepted(
  header: TokenHeader | Fault,
  algorithms: readonly SecretAlgorithm[],
  plan: ClaimPlan,
): SecretAlgorithm | Fault {
  if (typeof header === 'string') return header
  if (!algorithms.includes(header.alg as SecretAlgorithm)) return 'algorithm'
  return isOfType(header.typ, plan) ? (header.alg as SecretAlgorithm) : 'type'
}

export function isOfType(typ: unknown, { type }: ClaimPlan): boolean {
  return type === null || (typeof typ === 'string' && mediaTypeOf(typ) === type)
}

/** The base64url of a signature is compared, not its bytes: a token has one spelling then, as lists of revoked ones need. */
function isSigned(
  signed: string,
  signature: string,
  algorithm: SecretAlgorithm,
  secrets: readonly KeyObject[],
): boolean {
  const { hash, characters } = secretAlgorithms[algorithm]
  const { given, expected } = compared[algorithm]
  if (signature.length !== characters || given.write(signature) !== characters) return false
  for (const secret of secrets) {
    // A digest that is asked for as text makes no ArrayBuffer, which takes a third of the time.
    expected.write(createHmac(hash, secret).update(signed).digest('base64url'))
    if (timingSafeEqual(given, expected)) return true
  }
  return false
}

/** The memory in which signatures are compared. To make it for each token takes a tenth of the whole. */
const compared = { HS256: pairFor('HS256'), HS384: pairFor('HS384'), HS512: pairFor('HS512') }

function pairFor(algorithm: SecretAlgorithm): { readonly given: Buffer; readonly expected: Buffer } {
  const { characters } = secretAlgorithms[algorithm]
  return { given: Buffer.alloc(characters), expected: Buffer.alloc(characters) }
}
