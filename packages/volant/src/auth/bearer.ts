/** `bearer()` accepts bearer tokens (RFC 6750). */
import { hintMisuse } from '../dispatch/declare.ts'
import type { Context } from '../types/context.ts'
import { isToken68, tokenOf } from './authorization.ts'
import { checkRealm } from './challenge.ts'
import { type Authentication, Refusal } from './gate.ts'
import { type OwnerOf, type Secrets, secretTable } from './owners.ts'
import {
  type AuthenticationOptions,
  checkSources,
  schemeMiddleware,
  type SchemeMiddleware,
  type VerifiedBy,
} from './scheme.ts'
import type { Verified } from './verdict.ts'

interface BearerBase<Required extends boolean> extends AuthenticationOptions<Required> {
  /** The realm in the challenge. Default: none. */
  realm?: string | undefined
}

/** The options of `bearer` for tokens that are known when the app starts. */
export interface BearerTokenOptions<
  Tokens extends Secrets = Secrets,
  Required extends boolean = boolean,
> extends BearerBase<Required> {
  /** The only token. `ctx.state.user` is null. */
  token?: string | undefined
  /** The tokens: a list, or by owner as `{ ci: 'token' }`; then `ctx.state.user` is the name of the owner. */
  tokens?: Tokens | undefined
}

/** The options of `bearer` with a function that knows the tokens. */
export interface BearerVerifyOptions<
  V = unknown,
  Required extends boolean = boolean,
> extends BearerBase<Required> {
  /** Gives the user of a token; null, undefined or false refuse it with 401. */
  verify: (token: string, ctx: Context) => Verified<V>
}

/**
 * Lets requests pass that have `Authorization: Bearer <token>`, and refuses others with 401 before their body is read:
 *
 *     app.with(bearer({ tokens: { ci: process.env.CI_TOKEN } })).post('/deploy', (ctx) => ctx.state.user)
 *     app.with(bearer({ verify: (token) => findUserByToken(token) })).get('/me', (ctx) => ctx.state.user)
 *
 * The user is in `ctx.state.user`, and what else is known in `ctx.state.auth`. A malformed field is 400. Throws
 * `E_BAD_OPTION`.
 */
export function bearer<V, const Required extends boolean = true>(
  options: BearerVerifyOptions<V, Required>,
): VerifiedBy<V, 'bearer', Required>
export function bearer<const Tokens extends Secrets = [], const Required extends boolean = true>(
  options: BearerTokenOptions<Tokens, Required>,
): SchemeMiddleware<OwnerOf<Tokens>, 'bearer', Required>
export function bearer(options: BearerVerifyOptions | BearerTokenOptions): Authentication<never, never> {
  checkSources('bearer', options, ['realm'], ['token', 'tokens', 'verify'], foreign)
  const { realm, token, tokens, verify }: Partial<BearerVerifyOptions & BearerTokenOptions> = options
  const table =
    verify === undefined
      ? secretTable(
          `bearer: ${token === undefined ? 'tokens' : 'token'}`,
          token === undefined ? tokens : [token],
          (each) => (isToken68(each) ? null : notToken68),
        )
      : null
  return schemeMiddleware(
    {
      where: 'bearer',
      schemeName: 'bearer',
      security: { type: 'http', scheme: 'bearer' },
      challenge: {
        scheme: 'Bearer',
        params: realm === undefined ? {} : { realm: checkRealm('bearer: realm', realm) },
      },
      unknown: invalidToken,
      read: bearerTokenIn,
    },
    options,
    (given) => {
      const found = table?.find(given)
      return found ? { user: found.owner } : null
    },
  )
}

hintMisuse(bearer, 'app.with(bearer({ token }))')

const notToken68 =
  'has characters that a bearer token cannot have: it has letters, digits and - . _ ~ + /, and = at its end'

/** The names in @fastify/bearer-auth, hono and passport. */
const foreign = {
  keys: 'tokens',
  auth: 'verify',
  verifyToken: 'verify',
  errorResponse: 'write onError of the app or scope, which gets the error',
  addHook: 'write app.use(bearer(…)), or give it to a scope or route',
  specCompliance: 'refusals are those of RFC 6750',
} satisfies Readonly<Record<string, string>>

/** The refusal of a token that is not known (RFC 6750 §3.1). */
export const invalidToken = new Refusal(401, 'The token is not valid', { error: 'invalid_token' })

/** Gives the bearer token of a request (RFC 6750 §2.1), as the argument of `verify`. */
export function bearerTokenIn(ctx: Parameters<typeof tokenOf>[0]): readonly [string] | Refusal | null {
  const token = tokenOf(ctx, 'bearer', { error: 'invalid_request' })
  return typeof token === 'string' ? [token] : token
}
