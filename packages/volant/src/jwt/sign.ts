/** `signJwt()` makes signed tokens. */
import { createHmac } from 'node:crypto'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkNames, checkText } from '../options/checks.ts'
import {
  checkKeyAlgorithms,
  checkSecretAlgorithms,
  type JwtAlgorithm,
  type KeyAlgorithm,
  type SecretAlgorithm,
  secretAlgorithms,
} from './algorithms.ts'
import { checkSeconds } from './claims.ts'
import { checkPrivateKey, checkSecrets, type JwtKey, type JwtSecret } from './keys.ts'

/** What all options of `signJwt` have. */
interface CommonSignOptions {
  /**
   * The time that the token is valid for, in seconds or as `'15 minutes'`. False makes one without `exp`, which `jwt()`
   * refuses unless `requireExpiration` is false. It is left out where the claims have `exp`.
   */
  expiresIn?: number | string | false | undefined
  /** The time from now on after which the token is valid, `nbf`: in seconds or as `'1 minute'`. */
  notBefore?: number | string | undefined
  /** The issuer, `iss`. */
  issuer?: string | undefined
  /** The audience, `aud`, or several. */
  audience?: string | readonly string[] | undefined
  /** The subject, `sub`. */
  subject?: string | undefined
  /** The id of the token, `jti`. */
  jwtId?: string | undefined
  /** The id of the key, for the header. */
  kid?: string | undefined
  /** The type for the header. Default `JWT`. */
  typ?: string | undefined
}

/** `signJwt` with a secret. */
export interface SignWithSecretOptions extends CommonSignOptions {
  /** The secret: for HS256 32 bytes at least, for HS384 48, for HS512 64. */
  secret: JwtSecret
  /** The algorithm of the signature. */
  algorithm: SecretAlgorithm
  /** A private key signs in place of the secret. */
  key?: undefined
}

/** `signJwt` with a private key. */
export interface SignWithKeyOptions extends CommonSignOptions {
  /** The private key. */
  key: JwtKey
  /** The algorithm of the signature. */
  algorithm: KeyAlgorithm
  /** A secret signs in place of the key. */
  secret?: undefined
}

/** The options of `signJwt`. */
export type SignJwtOptions = SignWithSecretOptions | SignWithKeyOptions

const names = [
  'secret',
  'key',
  'algorithm',
  'expiresIn',
  'notBefore',
  'issuer',
  'audience',
  'subject',
  'jwtId',
  'kid',
  'typ',
] as const

/** The names in jsonwebtoken and fast-jwt. */
const foreign = {
  algorithms: 'algorithm',
  iss: 'issuer',
  aud: 'audience',
  sub: 'subject',
  jti: 'jwtId',
  jwtid: 'jwtId',
  keyid: 'kid',
  expires: 'expiresIn',
  noTimestamp: 'a token always has iat',
  header: 'write kid and typ themselves',
  mutatePayload: 'the claims stay as they are',
} satisfies Readonly<Record<string, string>>

/**
 * Signs a token:
 *
 *     const token = await signJwt({ sub: user.id }, { secret, algorithm: 'HS256', expiresIn: '15 minutes' })
 *
 * `iat` is now unless the claims have it. Claims are signed, not encrypted: everybody who has the token can read them. Rejects with
 * `E_BAD_OPTION`.
 */
export async function signJwt(claims: object, options: SignJwtOptions): Promise<string> {
  checkNames('signJwt', options, names, foreign)
  const { secret, key, algorithm, kid, typ = 'JWT' } = options
  if ((secret === undefined) === (key === undefined)) {
    throw new VolantError(
      'E_BAD_OPTION',
      'signJwt takes secret, or key with the private key, and there is neither or both',
    )
  }
  const header = {
    alg: algorithm,
    typ: checkText('signJwt: typ', typ, /./, 'the type for the header'),
    ...(kid === undefined ? {} : { kid: checkText('signJwt: kid', kid, /./s, 'the id of the key') }),
  }
  const payload = JSON.stringify(withTimes(claims, options))
  if (key === undefined) {
    checkSecretAlgorithms('signJwt: algorithm', [algorithm])
    const name = algorithm as SecretAlgorithm
    const [made] = checkSecrets('signJwt: secret', [secret], [name])
    const signed = `${base64url(JSON.stringify(header))}.${base64url(payload)}`
    const mac = createHmac(secretAlgorithms[name].hash, made as never).update(signed)
    return `${signed}.${mac.digest('base64url')}`
  }
  checkKeyAlgorithms('signJwt: algorithm', [algorithm])
  const made = checkPrivateKey('signJwt: key', key, algorithm as KeyAlgorithm)
  const { CompactSign } = await import('jose/jws/compact/sign')
  return new CompactSign(Buffer.from(payload)).setProtectedHeader(header as { alg: JwtAlgorithm }).sign(made)
}

function withTimes(given: object, options: SignJwtOptions): Record<string, unknown> {
  const wanted = 'an object of claims, such as { sub: user.id }'
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw bad('signJwt: claims', given, wanted)
  const { expiresIn, notBefore, issuer, audience, subject, jwtId } = options
  const now = Math.floor(Date.now() / 1_000)
  const claims: Record<string, unknown> = {
    iat: now,
    ...given,
    ...named(
      'nbf',
      notBefore === undefined ? undefined : now + checkSeconds('signJwt: notBefore', notBefore),
    ),
    ...named('iss', issuer),
    ...named('aud', audience),
    ...named('sub', subject),
    ...named('jti', jwtId),
  }
  if (expiresIn === undefined && claims['exp'] === undefined) {
    throw bad(
      'signJwt: expiresIn',
      expiresIn,
      "the time that the token is valid for, as '15 minutes', or false for one that is valid for ever",
    )
  }
  if (expiresIn !== undefined && expiresIn !== false) {
    if (claims['exp'] !== undefined) {
      throw new VolantError(
        'E_BAD_OPTION',
        'signJwt: expiresIn is given, and the claims have exp: write one of them',
      )
    }
    claims['exp'] = now + checkSeconds('signJwt: expiresIn', expiresIn)
  }
  for (const name of ['exp', 'nbf', 'iat']) {
    const value = claims[name]
    if (value === undefined || (typeof value === 'number' && Number.isFinite(value))) continue
    throw bad(`signJwt: claims.${name}`, value, 'a number: seconds since 1970')
  }
  return claims
}

function named(name: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [name]: value }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
