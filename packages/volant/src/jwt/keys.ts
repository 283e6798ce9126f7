/** Secrets and keys as options give them, made key objects once. No message shows a secret or a key. */
import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type JsonWebKeyInput,
  KeyObject,
} from 'node:crypto'
import { VolantError } from '../errors/errors.ts'
import {
  type JwtAlgorithm,
  keyAlgorithms,
  type KeyAlgorithm,
  secretAlgorithms,
  type SecretAlgorithm,
} from './algorithms.ts'

/** A secret: a text, whose UTF-8 bytes count, bytes, or a `KeyObject` of the type `secret`. */
export type JwtSecret = string | Uint8Array | KeyObject

/** A JSON Web Key (RFC 7517 §4). */
export type JwtJsonKey = JsonWebKeyInput['key']

/** A key: PEM text, a JSON Web Key, a `KeyObject` or a `CryptoKey`. */
export type JwtKey = string | JwtJsonKey | KeyObject | CryptoKey

/** The most secrets or keys of a list: each may have to be tried. */
const most = 16

/** Throws `E_BAD_OPTION`, also for secrets that are too short for the algorithms. */
export function checkSecrets(
  where: string,
  given: unknown,
  algorithms: readonly SecretAlgorithm[],
): readonly KeyObject[] {
  const needed = Math.max(...algorithms.map((name) => secretAlgorithms[name].bytes))
  return listOf(where, given).map((each) => {
    const secret = secretOf(where, each)
    const bytes = secret.symmetricKeySize ?? 0
    if (bytes >= needed) return secret
    throw refused(
      where,
      `is ${bytes} bytes long, and ${algorithms.join(', ')} needs ${needed} at least (RFC 7518 §3.2), since a shorter one can be guessed from any token: make one with openssl rand -base64 ${Math.ceil((needed * 3) / 2 / 3) * 3}`,
    )
  })
}

function secretOf(where: string, given: unknown): KeyObject {
  if (typeof given === 'string') {
    if (/-----BEGIN /.test(given))
      throw refused(where, 'is a key in PEM: write it as key, with its algorithms')
    return createSecretKey(Buffer.from(given))
  }
  if (given instanceof Uint8Array) return createSecretKey(given)
  if (given instanceof KeyObject) {
    if (given.type === 'secret') return given
    throw refused(where, `is a ${given.type} key: write it as key, with its algorithms`)
  }
  throw refused(where, `takes a text, bytes or a KeyObject, not ${kindOf(given)}`)
}

/** Throws `E_BAD_OPTION` for a key that is not public or fits no algorithm, and for an algorithm that fits no key. */
export function checkPublicKeys(
  where: string,
  given: unknown,
  algorithms: readonly KeyAlgorithm[],
): readonly KeyObject[] {
  const keys = listOf(where, given).map((each) => {
    const key = keyOf(where, each, 'public')
    checkJwk(where, each, algorithms, 'verify')
    if (algorithms.some((name) => fits(key, name))) return key
    throw refused(
      where,
      `has a key of the type ${typeOf(key)}, for which none of ${algorithms.join(', ')} is`,
    )
  })
  for (const name of algorithms) {
    if (keys.some((key) => fits(key, name))) continue
    throw refused(where, `has no key for ${name}: leave it out of algorithms, or add its key`)
  }
  return keys
}

/** Throws `E_BAD_OPTION`. */
export function checkPrivateKey(where: string, given: unknown, algorithm: KeyAlgorithm): KeyObject {
  const key = keyOf(where, given, 'private')
  checkJwk(where, given, [algorithm], 'sign')
  if (fits(key, algorithm)) return key
  throw refused(where, `has the type ${typeOf(key)}, and ${algorithm} needs ${wantedBy(algorithm)}`)
}

/** True where the algorithm can be used with the key. */
export function fits(key: KeyObject, name: KeyAlgorithm): boolean {
  const { type, curve } = keyAlgorithms[name]
  return key.asymmetricKeyType === type && key.asymmetricKeyDetails?.namedCurve === curve
}

function keyOf(where: string, given: unknown, wanted: 'public' | 'private'): KeyObject {
  const key = imported(where, given, wanted)
  if (key.type !== wanted) {
    const remedy =
      key.type === 'secret'
        ? 'write it as secret'
        : wanted === 'public'
          ? 'give its public half, createPublicKey(key), since who verifies needs no private key'
          : 'give the private key, which signs'
    throw refused(where, `is a ${key.type} key: ${remedy}`)
  }
  if (isStrong(key)) return key
  const { modulusLength } = key.asymmetricKeyDetails ?? {}
  throw refused(where, `has ${modulusLength} bits, and RSA needs ${leastBits} at least (RFC 7518 §3.3)`)
}

const leastBits = 2_048

/** True where the key is as long as RSA keys have to be, or is of another type. */
export function isStrong({ asymmetricKeyDetails: { modulusLength = leastBits } = {} }: KeyObject): boolean {
  return modulusLength >= leastBits
}

function imported(where: string, given: unknown, wanted: 'public' | 'private'): KeyObject {
  if (given instanceof KeyObject) return given
  try {
    if (typeof given === 'string') {
      return / PRIVATE KEY-----/.test(given) ? createPrivateKey(given) : createPublicKey(given)
    }
    if (given instanceof CryptoKey) return KeyObject.from(given)
    if (isJwk(given)) {
      if (given.kty === 'oct') throw new Error('its type is oct, which is a secret')
      const input = { key: given, format: 'jwk' } as const
      return given.d === undefined ? createPublicKey(input) : createPrivateKey(input)
    }
  } catch (error) {
    throw refused(where, `cannot be read as a ${wanted} key (${(error as Error).message})`)
  }
  throw refused(where, `takes PEM text, a JSON Web Key, a KeyObject or a CryptoKey, not ${kindOf(given)}`)
}

/** A JSON Web Key may say what it is for (RFC 7517 §4.2 to §4.4). */
function checkJwk(
  where: string,
  given: unknown,
  algorithms: readonly JwtAlgorithm[],
  operation: string,
): void {
  if (given instanceof KeyObject || given instanceof CryptoKey || !isJwk(given)) return
  const { alg, use, key_ops: operations } = given
  if (alg !== undefined && !algorithms.includes(alg as JwtAlgorithm)) {
    throw refused(where, `has the "alg" ${JSON.stringify(alg)}, which is none of ${algorithms.join(', ')}`)
  }
  if (
    (use !== undefined && use !== 'sig') ||
    (Array.isArray(operations) && !operations.includes(operation as never))
  ) {
    throw refused(where, `is not for signatures, as its "use" or "key_ops" says`)
  }
}

function isJwk(given: unknown): given is JwtJsonKey {
  return typeof given === 'object' && given !== null && typeof (given as JwtJsonKey).kty === 'string'
}

function listOf(where: string, given: unknown): readonly unknown[] {
  if (!Array.isArray(given)) return [given]
  if (given.length >= 1 && given.length <= most) return given as readonly unknown[]
  throw refused(where, `takes one, or a list of up to ${most} with the newest first`)
}

function typeOf({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): string {
  return details?.namedCurve === undefined ? String(type) : `${type} (${details.namedCurve})`
}

function wantedBy(name: KeyAlgorithm): string {
  const { type, curve } = keyAlgorithms[name]
  return curve === undefined ? type : `${type} (${curve})`
}

function kindOf(given: unknown): string {
  if (given === null) return 'null'
  return typeof given === 'object' ? 'another object' : typeof given
}

function refused(where: string, what: string): VolantError {
  return new VolantError('E_BAD_OPTION', `${where} ${what}`)
}
