/** `authenticate()` makes an authentication of credentials that this package does not know. */
import { hintMisuse } from '../dispatch/declare.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkFunction, checkNames } from '../options/checks.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import { type Challenge, checkChallenge } from './challenge.ts'
import { type Authentication, authenticationOf, Refusal } from './gate.ts'
import { checkSchemeName, type VerifiedBy } from './scheme.ts'
import { identityOf, type Verified } from './verdict.ts'

/** The options of `authenticate`. */
export interface AuthenticateOptions<Credentials, V, Scheme extends string, Required extends boolean> {
  /** The name of the security scheme in the API's document, and in `ctx.state.auth.scheme`. */
  schemeName: Scheme
  /** The Security Scheme Object of OpenAPI 3.1 §4.8.27, such as `{ type: 'apiKey', in: 'cookie', name: 'session' }`. */
  security: Readonly<Record<string, unknown>>
  /** Gives the credentials of a request, without waiting; null or undefined where it has none. */
  credentials: (ctx: Context) => Credentials | null | undefined
  /** Gives the user they belong to; null, undefined or false refuse them with 401. */
  verify: (credentials: Credentials, ctx: Context) => Verified<V>
  /** The challenge of refusals. Default: one made of `security`. */
  challenge?: Challenge | undefined
  /** False lets requests without credentials pass. Default true. */
  required?: Required | undefined
}

/**
 * Makes an authentication for `app.with` and `anyOf`. This one accepts requests of signed-in sessions:
 *
 *     const signedIn = authenticate({
 *       schemeName: 'cookie',
 *       security: { type: 'apiKey', in: 'cookie', name: '__Host-session' },
 *       credentials: (ctx) => ctx.state.session.get('user'),
 *       verify: (user) => user,
 *     })
 *     app.with(sessions).with(anyOf(bearer({ verify: byToken }), signedIn))
 *
 * It runs before the body is read. Throws `E_BAD_OPTION`.
 */
export function authenticate<
  Credentials,
  V,
  const Scheme extends string,
  const Required extends boolean = true,
>(options: AuthenticateOptions<Credentials, V, Scheme, Required>): VerifiedBy<V, Scheme, Required>
export function authenticate(
  options: AuthenticateOptions<unknown, unknown, string, boolean>,
): Authentication<never, never> {
  checkNames('authenticate', options, [
    'schemeName',
    'security',
    'credentials',
    'verify',
    'challenge',
    'required',
  ])
  const { security, credentials, verify, challenge } = options
  if (typeof security !== 'object' || security === null || typeof security['type'] !== 'string') {
    throw bad(
      'authenticate: security',
      security,
      "a Security Scheme Object such as { type: 'http', scheme: 'bearer' }",
    )
  }
  for (const [name, value] of Object.entries({ credentials, verify })) {
    if (value === undefined) throw bad(`authenticate: ${name}`, value, 'a function')
    checkFunction(`authenticate: ${name}`, value)
  }
  const where = 'authenticate: verify'
  return authenticationOf<unknown>(
    [
      {
        scheme: checkSchemeName('authenticate', options.schemeName),
        security: { ...security },
        challenge: checkChallenge('authenticate: challenge', challenge ?? challengeFor(security)),
        unknown: new Refusal(401, 'The credentials are not valid'),
        read: (ctx: RequestContext) => {
          const given = credentials(ctx as unknown as Context) ?? null
          // A promise of null is not null: without this check a request that has no credentials would have some.
          if (!isThenable(given)) return given
          // Nothing awaits it, and an unhandled rejection would end the process.
          given.then(undefined, () => {})
          throw new VolantError('E_BAD_OPTION', awaited)
        },
        verify: (given: unknown, ctx: RequestContext) => {
          const user = verify(given, ctx as unknown as Context)
          return isThenable(user)
            ? Promise.resolve(user).then((later) => identityOf(where, later))
            : identityOf(where, user)
        },
      },
    ],
    checkFlag('authenticate: required', options.required, true),
  )
}

hintMisuse(authenticate, 'app.with(authenticate({ schemeName, security, credentials, verify }))')

const awaited =
  'authenticate: credentials gave a promise, so that nobody could tell whether the request has any: read them without waiting, and look them up in verify, which may be async'

function challengeFor({ type, scheme, in: place, name }: Readonly<Record<string, unknown>>): Challenge {
  if (type === 'apiKey') return { scheme: 'ApiKey', params: { in: String(place), name: String(name) } }
  return {
    scheme: typeof scheme === 'string' ? scheme.replace(/^./, (first) => first.toUpperCase()) : 'Bearer',
  }
}
