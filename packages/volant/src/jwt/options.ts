/** The options of `jwt`, `jwk` and `verifyJwt`, checked. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkInteger, checkNames } from '../options/checks.ts'
import { millisecondsOf } from '../options/duration.ts'
import type { ForeignNames } from '../options/option-names.ts'
import {
  checkKeyAlgorithms,
  checkSecretAlgorithms,
  type KeyAlgorithm,
  type SecretAlgorithm,
} from './algorithms.ts'
import { type ClaimOptions, claimOptions, claimPlanOf } from './claims.ts'
import { isUsable, keysIn, RemoteKeySet } from './key-set.ts'
import { checkPublicKeys, checkSecrets, type JwtJsonKey, type JwtKey, type JwtSecret } from './keys.ts'
import { type Claims, type Fault, mostTokenSize } from './token.ts'
import { keyVerifier, type KeysFor, listedKeys } from './verify-key.ts'
import { secretVerifier } from './verify-secret.ts'

/** The options about the token that `jwt`, `jwk` and `verifyJwt` share. */
export interface TokenOptions extends ClaimOptions {
  /** The most characters of a token, from 64 to 65,536. Default 8,192. */
  maxTokenSize?: number | undefined
}

/** Tokens that are signed with a secret. */
export interface SecretSource {
  /**
   * The secret, or several with the newest first, any of which is accepted: for HS256 32 bytes at least, for HS384 48,
   * for HS512 64.
   */
  secret: JwtSecret | readonly JwtSecret[]
  /** The algorithms that are accepted. */
  algorithms: readonly SecretAlgorithm[]
  /** A key verifies in place of the secret. */
  key?: undefined
}

/** Tokens that are signed with a private key. */
export interface KeySource {
  /** The public key, or several with the newest first, any of which is accepted. */
  key: JwtKey | readonly JwtKey[]
  /** The algorithms that are accepted. */
  algorithms: readonly KeyAlgorithm[]
  /** A secret verifies in place of the key. */
  secret?: undefined
}

/** The key set that a server has. */
export interface RemoteSetSource {
  /** The address of the set. Unless the host is this machine it begins with `https:`. */
  url: string | URL
  /** The set itself takes the place of its address. */
  jwks?: undefined
  /** True accepts a `url` that begins with `http:`, whose keys anybody on the way can replace. Default false. */
  allowHttp?: boolean | undefined
  /** The time that the server has for its answer, in milliseconds or as `'5 seconds'`. Default 5 seconds. */
  timeout?: number | string | undefined
  /** The least time between two requests for the set, also when a token has a key that is not in it. Default 30 seconds. */
  cooldown?: number | string | undefined
  /** The time for which the set is used without asking again. Default 10 minutes. */
  cacheMaxAge?: number | string | undefined
}

/** A key set that is given as it is. */
export interface GivenSetSource {
  /** The set: `{ keys: [ … ] }`. */
  jwks: { readonly keys: readonly JwtJsonKey[] }
  /** The address takes the place of the set. */
  url?: undefined
}

/** The options of `jwk` about the issuer of its tokens. */
export interface IssuedOptions {
  /** The algorithms that are accepted. */
  algorithms: readonly KeyAlgorithm[]
  /** The issuer, `iss`, or several; false where tokens of any issuer with these keys are accepted. */
  issuer: string | readonly string[] | false
  /**
   * The audience, `aud`, or several; false where tokens have none. An identity provider signs tokens for all its
   * customers with the same keys: without the audience theirs are accepted, too.
   */
  audience: string | readonly string[] | false
}

/** The options of `jwk` about tokens. */
export type IssuedTokenOptions = IssuedOptions & Omit<TokenOptions, keyof IssuedOptions>

/** Verifies a token, at once or as a promise. */
export type Verifier = (
  token: string,
  report: (error: Error) => void,
) => Claims | Fault | Promise<Claims | Fault>

export const tokenOptions = ['algorithms', ...claimOptions, 'maxTokenSize'] as const
export const jwtSources = ['secret', 'key', ...tokenOptions] as const
const remoteOptions = ['allowHttp', 'timeout', 'cooldown', 'cacheMaxAge'] as const
export const jwkSources = ['url', 'jwks', ...remoteOptions, ...tokenOptions] as const

/** The names in @fastify/jwt, express-jwt, hono, jsonwebtoken and jose. */
export const foreign = {
  alg: 'algorithms',
  algorithm: 'algorithms',
  keys: 'write key, or jwk({ jwks: { keys } }) for a set',
  public: 'key',
  publicKey: 'key',
  secretOrKey: 'secret or key',
  secretOrPublicKey: 'secret or key',
  sign: 'signJwt(claims, options) signs',
  verify: 'write the options of verify themselves: algorithms, issuer, audience, clockTolerance',
  decode: 'claims are read from verified tokens alone',
  iss: 'issuer',
  aud: 'audience',
  sub: 'subject',
  allowedIss: 'issuer',
  allowedAud: 'audience',
  allowedSub: 'subject',
  allowedJti: 'verify',
  allowedNonce: 'verify',
  maxAge: 'maxTokenAge',
  ignoreExpiration: 'write requireExpiration: false for tokens without exp; expired ones are refused',
  ignoreNotBefore: 'a token that is not valid yet is refused',
  clockTimestamp: 'the clock is that of the system',
  cookieName: 'cookie',
  credentialsRequired: 'required',
  getToken: 'a token is in Authorization, or in the cookie that cookie names',
  extractToken: 'a token is in Authorization, or in the cookie that cookie names',
  isRevoked: 'verify',
  trusted: 'verify',
  formatUser: 'verify',
  requestProperty: 'the claims are in ctx.state.user',
  decoratorName: 'the claims are in ctx.state.user',
  namespace: 'the claims are in ctx.state.user',
  onExpired: 'write onError of the app or scope, which gets the error',
  messages: 'write onError of the app or scope, which gets the error',
  jwksUri: 'url',
  jwks_uri: 'url',
  timeoutDuration: 'timeout',
  cooldownDuration: 'cooldown',
} satisfies ForeignNames

/** Gives what verifies tokens with a secret or with public keys. Throws `E_BAD_OPTION`. */
export function verifierOf(where: string, options: (SecretSource | KeySource) & TokenOptions): Verifier {
  const { secret, key } = options
  oneOf(where, options, ['secret', 'key'])
  const plan = claimPlanOf(where, options)
  const size = sizeOf(where, options)
  if (key === undefined) {
    const algorithms = checkSecretAlgorithms(`${where}: algorithms`, options.algorithms)
    return secretVerifier(checkSecrets(`${where}: secret`, secret, algorithms), algorithms, size, plan)
  }
  const algorithms = checkKeyAlgorithms(`${where}: algorithms`, options.algorithms)
  return keyVerifier(listedKeys(checkPublicKeys(`${where}: key`, key, algorithms)), algorithms, size, plan)
}

/** Gives what verifies tokens with a key set. Throws `E_BAD_OPTION`. */
export function setVerifierOf(options: (RemoteSetSource | GivenSetSource) & IssuedTokenOptions): Verifier {
  oneOf('jwk', options, ['url', 'jwks'])
  const algorithms = checkKeyAlgorithms('jwk: algorithms', options.algorithms)
  const { issuer, audience, ...others } = options
  const plan = claimPlanOf('jwk', {
    ...others,
    issuer: named('jwk: issuer', issuer, "the issuer, as 'https://id.example', or false for any"),
    audience: named('jwk: audience', audience, 'the audience, which names this API, or false for any'),
  } as ClaimOptions)
  const keysFor = options.url === undefined ? givenKeys(options, algorithms) : remoteKeys(options, algorithms)
  return keyVerifier(keysFor, algorithms, sizeOf('jwk', options), plan)
}

function named(where: string, given: unknown, wanted: string): unknown {
  if (given === undefined) throw bad(where, given, wanted)
  return given === false ? undefined : given
}

function givenKeys(options: GivenSetSource, algorithms: readonly KeyAlgorithm[]): KeysFor {
  const { jwks } = options
  for (const name of remoteOptions) {
    if ((options as unknown as Record<string, unknown>)[name] === undefined) continue
    throw new VolantError('E_BAD_OPTION', `jwk: ${name} is for url, and there is jwks`)
  }
  if (!Array.isArray((jwks as Partial<typeof jwks> | null)?.keys)) {
    throw bad('jwk: jwks', jwks, 'a key set: { keys: [ … ] }')
  }
  const set = structuredClone(jwks)
  if (!set.keys.some((key) => isUsable(key, algorithms))) {
    throw new VolantError(
      'E_BAD_OPTION',
      `jwk: jwks has no public key for ${algorithms.join(', ')}: secrets, private keys, short ones and those of another "use" or "alg" do not count`,
    )
  }
  let finding: ReturnType<typeof keysIn> | null = null
  return async (header) => (await (finding ??= keysIn(set, algorithms)))?.(header) ?? []
}

function remoteKeys(options: RemoteSetSource, algorithms: readonly KeyAlgorithm[]): KeysFor {
  const { allowHttp, timeout = 5_000, cooldown = 30_000, cacheMaxAge = 600_000 } = options
  return new RemoteKeySet({
    url: checkUrl(options.url, checkFlag('jwk: allowHttp', allowHttp, false)),
    algorithms,
    timeout: checkMs('jwk: timeout', timeout, [1, 60_000], '1 ms to 1 minute'),
    cooldown: checkMs('jwk: cooldown', cooldown, [1_000, 3_600_000], '1 second to 1 hour'),
    cacheMaxAge: checkMs('jwk: cacheMaxAge', cacheMaxAge, [1_000, 86_400_000], '1 second to 1 day'),
  }).keysFor
}

function checkMs(name: string, value: unknown, range: readonly [number, number], wanted: string): number {
  return checkInteger(name, millisecondsOf(value) ?? value, range, `${wanted}, in ms or as '5 seconds'`)
}

function checkUrl(given: unknown, allowHttp: boolean): URL {
  if (!URL.canParse(String(given))) throw bad('jwk: url', given, 'the address of a key set')
  const url = new URL(String(given))
  if (url.username !== '' || url.password !== '') {
    throw new VolantError('E_BAD_OPTION', 'jwk: url has a name or password in it, which fetch refuses')
  }
  if (url.protocol === 'https:') return url
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (url.protocol === 'http:' && (isHere || allowHttp)) return url
  throw new VolantError(
    'E_BAD_OPTION',
    `jwk: url begins with ${url.protocol}, so that anybody on the way can replace the keys: use https, or write allowHttp: true where the network is trusted`,
  )
}

function sizeOf(where: string, { maxTokenSize = 8_192 }: Pick<TokenOptions, 'maxTokenSize'>): number {
  return checkInteger(
    `${where}: maxTokenSize`,
    maxTokenSize,
    [64, mostTokenSize],
    'a number of characters from 64 to 65,536',
  )
}

/** Checks that exactly one of two options is given. */
function oneOf(where: string, options: object, [first, second]: readonly [string, string]): void {
  const { [first]: one, [second]: other } = options as Record<string, unknown>
  if (one !== undefined && other !== undefined) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: ${first} and ${second} are both given: write one of them, or two middlewares with anyOf()`,
    )
  }
  if (one !== undefined || other !== undefined) return
  const hint = first in options ? ': is its environment variable set?' : ''
  throw new VolantError('E_BAD_OPTION', `${where} takes ${first} or ${second}, and there is neither${hint}`)
}

/** Checks that `options` is an object with known names alone. */
export function checkOptions(where: string, options: unknown, names: readonly string[]): void {
  checkNames(where, options, names, foreign)
}
