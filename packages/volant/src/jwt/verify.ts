/** `verifyJwt()` verifies a token that did not come as the credentials of a request. */
import { challengeText } from '../auth/challenge.ts'
import { invalidToken } from '../auth/bearer.ts'
import { HTTPError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import {
  checkOptions,
  jwtSources,
  type KeySource,
  type SecretSource,
  type TokenOptions,
  type Verifier,
  verifierOf,
} from './options.ts'
import { type Fault, faults, type JwtClaims } from './token.ts'

/** The options of `verifyJwt`. */
export type VerifyJwtOptions = (SecretSource | KeySource) & TokenOptions

/** Why a token is refused. */
export type JwtFault = Fault

/** A token is refused: a 401 where nothing catches it. Clients see whether it has expired, and no other reason. */
export class JwtError extends HTTPError {
  /** The reason, such as `expired` or `signature`. */
  readonly reason: JwtFault

  constructor(reason: JwtFault) {
    const detail = reason === 'expired' ? faults.expired : invalidToken.detail
    super(401, detail, {
      code: 'E_UNAUTHORIZED',
      headers: { 'www-authenticate': challengeText({ scheme: 'Bearer' }, invalidToken.params) },
      cause: faults[reason],
    })
    this.name = 'JwtError'
    this.reason = reason
  }
}

/** What was made of options, so that keys are imported once. */
const verifiers = new WeakMap<object, Verifier>()

/**
 * Verifies a token and gives its claims:
 *
 *     const { sub } = await verifyJwt(token, { secret, algorithms: ['HS256'] })
 *
 * Rejects with `JwtError` where the token is refused, with `E_BAD_OPTION` for options that make no sense. The same object
 * of options is checked once: make it once.
 */
export async function verifyJwt<C extends object = JwtClaims>(
  token: string,
  options: VerifyJwtOptions,
): Promise<C> {
  let verifier = typeof options === 'object' ? verifiers.get(options) : undefined
  if (verifier === undefined) {
    checkOptions('verifyJwt', options, jwtSources)
    verifier = verifierOf('verifyJwt', options)
    verifiers.set(options, verifier)
  }
  if (typeof token !== 'string') throw bad('verifyJwt', typeof token, 'the text of a token')
  const given = await verifier(token, () => {})
  if (typeof given === 'string') throw new JwtError(given)
  return given as C
}
