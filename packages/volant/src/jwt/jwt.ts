/** `jwt()` and `jwk()` accept requests with a signed token (RFC 7519), and refuse others before their body is read. */
import type { SchemaOutput, Schema } from '../types/schema.ts'
import {
  type Auth,
  type Authentication,
  authenticationOf,
  type Identity,
  Refusal,
  requestOf,
  type Verdict,
} from '../auth/gate.ts'
import { readers } from '../auth/api-key.ts'
import { bearerTokenIn, invalidToken } from '../auth/bearer.ts'
import { checkRealm } from '../auth/challenge.ts'
import { type AuthenticationOptions, checkSchemeName } from '../auth/scheme.ts'
import { asList, isNobody, type UserOf, type Verified } from '../auth/verdict.ts'
import { hintMisuse } from '../dispatch/declare.ts'
import { errorTable } from '../errors/errors.ts'
import { checkFlag, checkFunction, checkText } from '../options/checks.ts'
import { issuesIn, isLater } from '../schema/result.ts'
import { standardOf } from '../schema/standard.ts'
import type { Context } from '../types/context.ts'
import type { DeclaredErrors } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import {
  checkOptions,
  type GivenSetSource,
  type IssuedTokenOptions,
  jwkSources,
  jwtSources,
  type KeySource,
  type RemoteSetSource,
  type SecretSource,
  setVerifierOf,
  type TokenOptions,
  type Verifier,
  verifierOf,
} from './options.ts'
import { type Claims, type Fault, faults, type JwtClaims } from './token.ts'

/** What `jwt` and `jwk` do with a token and its claims. */
export interface TokenUseOptions<Required extends boolean> extends AuthenticationOptions<Required> {
  /**
   * The name of a cookie that may have the token in place of Authorization. Browsers send cookies by themselves, also
   * when another site asks them to: use `csrf()` of `volant/session` as well.
   */
  cookie?: string | undefined
  /** The realm in the challenge. Default: none. */
  realm?: string | undefined
}

/** The claims by a schema, and the user they belong to. */
interface BySchema<S extends Schema, V> {
  /** The schema of the claims. Its output takes their place. A token with other claims is refused with 401. */
  schema: S
  /** Gives the user for the claims, such as a row of a database; null, undefined or false refuse the token with 401. */
  verify?: ((claims: SchemaOutput<S>, ctx: Context) => Verified<V>) | undefined
}

/** The claims as the program names their type, and the user they belong to. */
interface ByType<C, V> {
  schema?: undefined
  /** Gives the user for the claims, such as a row of a database; null, undefined or false refuse the token with 401. */
  verify?: ((claims: C, ctx: Context) => Verified<V>) | undefined
}

/** The options of `jwt` beside those of the claims' types. */
export type JwtOptions<Required extends boolean = boolean> = (SecretSource | KeySource) &
  TokenOptions &
  TokenUseOptions<Required>

/** The options of `jwk` beside those of the claims' types. */
export type JwkOptions<Required extends boolean = boolean> = (RemoteSetSource | GivenSetSource) &
  IssuedTokenOptions &
  TokenUseOptions<Required>

/** The middleware that tokens pass. */
export type TokenMiddleware<
  Claims,
  V,
  Scheme extends string,
  Required extends boolean,
  Errors = {},
> = Authentication<
  false extends Required ? UserOf<V> | null : UserOf<V>,
  Auth<Scheme | `${Scheme}Cookie`, Claims> | (false extends Required ? null : never)
> &
  Errors

/**
 * Lets requests pass that have `Authorization: Bearer <token>` with a token that is signed with the secret, or by the
 * owner of the key, and refuses others with 401:
 *
 *     const signedIn = jwt({ secret: process.env.JWT_SECRET, algorithms: ['HS256'], issuer: 'https://api.example' })
 *     app.with(signedIn).get('/me', (ctx) => ({ id: ctx.state.user.sub }))
 *
 * The claims are in `ctx.state.auth.claims`, and in `ctx.state.user` unless `verify` gives another user. `scope` and `scp`
 * are what `requireScope` looks at. A token has to have `exp`. Claims are typed by `schema`, by the parameter of `verify`,
 * or as `jwt<{ sub: string }>(…)`. Throws `E_BAD_OPTION`.
 */
export function jwt<const S extends Schema, V = SchemaOutput<S>, const Required extends boolean = true>(
  options: JwtOptions<Required> & BySchema<S, V>,
): TokenMiddleware<SchemaOutput<S>, V, 'jwt', Required>
export function jwt<C extends object = JwtClaims, V = C, const Required extends boolean = true>(
  options: JwtOptions<Required> & ByType<C, V>,
): TokenMiddleware<C, V, 'jwt', Required>
export function jwt(options: JwtOptions & AnyUse): Authentication<never, never> {
  checkOptions('jwt', options, [...jwtSources, ...useOptions])
  return tokenMiddleware('jwt', options, verifierOf('jwt', options), {})
}

/**
 * Lets requests pass that have a token which is signed with a key of a set, such as that of an identity provider:
 *
 *     const signedIn = jwk({
 *       url: 'https://id.example/.well-known/jwks.json',
 *       algorithms: ['RS256'],
 *       issuer: 'https://id.example',
 *       audience: 'https://api.example',
 *     })
 *
 * The set is fetched when the first token comes, again when it is ten minutes old, and when a token has a key that is not
 * in it. While its server is down the last set is used for a day; without one, requests are answered with 503. The rest is
 * as with `jwt`. Throws `E_BAD_OPTION`.
 */
export function jwk<const S extends Schema, V = SchemaOutput<S>, const Required extends boolean = true>(
  options: JwkOptions<Required> & BySchema<S, V>,
): TokenMiddleware<SchemaOutput<S>, V, 'jwk', Required>
export function jwk<C extends object = JwtClaims, V = C, const Required extends boolean = true>(
  options: JwkOptions<Required> & ByType<C, V>,
): TokenMiddleware<C, V, 'jwk', Required>
export function jwk(options: JwkOptions & AnyUse): Authentication<never, never> {
  checkOptions('jwk', options, [...jwkSources, ...useOptions])
  return tokenMiddleware('jwk', options, setVerifierOf(options), options.url === undefined ? {} : unavailable)
}

hintMisuse(jwt, "app.with(jwt({ secret, algorithms: ['HS256'] }))")
hintMisuse(jwk, "app.with(jwk({ url, algorithms: ['RS256'], issuer, audience }))")

const useOptions = ['cookie', 'realm', 'required', 'schemeName', 'schema', 'verify'] as const

const unavailable: DeclaredErrors = {
  E_KEY_SET: {
    status: 503,
    description: errorTable.E_KEY_SET.meaning,
    headers: { 'Retry-After': 'The seconds after which the request may be sent again.' },
  },
}

interface AnyUse {
  schema?: Schema | undefined
  verify?: ((claims: never, ctx: Context) => unknown) | undefined
}

type Passing = (
  given: Claims | Fault,
  ctx: RequestContext,
) => Verdict<unknown> | PromiseLike<Verdict<unknown>>

function tokenMiddleware(
  where: 'jwt' | 'jwk',
  options: TokenUseOptions<boolean> & AnyUse,
  verifier: Verifier,
  errors: DeclaredErrors,
): Authentication<never, never> {
  const { cookie, realm } = options
  const scheme = checkSchemeName(where, options.schemeName ?? where)
  const pass = passing(where, options)
  const shared = {
    challenge: {
      scheme: 'Bearer',
      params: realm === undefined ? {} : { realm: checkRealm(`${where}: realm`, realm) },
    },
    unknown: invalidToken,
    verify: ([token]: readonly [string], ctx: RequestContext) => {
      const given = verifier(token, (error) => requestOf(ctx)?.app.report(error, ctx))
      return given instanceof Promise ? given.then((later) => pass(later, ctx)) : pass(given, ctx)
    },
  }
  const authenticators = [
    {
      ...shared,
      scheme,
      security: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } as Record<string, string>,
      read: bearerTokenIn as (ctx: RequestContext) => readonly [string] | Refusal | null,
    },
  ]
  if (cookie !== undefined) {
    const name = checkText(
      `${where}: cookie`,
      cookie,
      /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/,
      'the name of a cookie',
    )
    authenticators.push({
      ...shared,
      scheme: `${scheme}Cookie`,
      security: { type: 'apiKey', in: 'cookie', name },
      read: readers.cookie(name),
    })
  }
  return authenticationOf(authenticators, checkFlag(`${where}: required`, options.required, true), errors)
}

/** Gives what follows the verification: the schema of the claims, and the user they belong to. */
function passing(where: string, { schema, verify }: AnyUse): Passing {
  checkFunction(
    `${where}: verify`,
    verify,
    'a function that gives the user for the claims (issuer, audience and clockTolerance stand beside it)',
  )
  const find = verify as ((claims: unknown, ctx: Context) => unknown) | undefined
  const identify = (token: Claims, claims: unknown, ctx: RequestContext): ReturnType<Passing> => {
    if (find === undefined) return identityOf(where, token, claims, claims)
    const user = find(claims, ctx as unknown as Context)
    return isThenable(user)
      ? Promise.resolve(user).then((later) => identityOf(where, token, claims, later))
      : identityOf(where, token, claims, user)
  }
  if (schema === undefined) {
    return (given, ctx) => (typeof given === 'string' ? refusals[given] : identify(given, given, ctx))
  }
  const place = `${where}: schema`
  const props = standardOf(schema, place)
  const conclude = (token: Claims, result: unknown, ctx: RequestContext) =>
    issuesIn(result, props, place) === null
      ? identify(token, (result as { value: unknown }).value, ctx)
      : refusals.schema
  return (given, ctx) => {
    if (typeof given === 'string') return refusals[given]
    const result = props.validate(given)
    return isLater(result)
      ? result.then((later) => conclude(given, later, ctx))
      : conclude(given, result, ctx)
  }
}

/** Of the token's faults a client is told whether it has expired, since it can get another one then. */
const refusals = Object.fromEntries(
  Object.entries(faults).map(([fault, cause]) => {
    if (fault !== 'expired') return [fault, new Refusal(401, invalidToken.detail, invalidToken.params, cause)]
    const params = { ...invalidToken.params, error_description: cause }
    return [fault, new Refusal(401, cause, params, cause)]
  }),
) as Readonly<Record<Fault, Refusal>>

/** The scopes are those of the token, whatever a schema leaves of it. The roles are those of the user if it has any. */
function identityOf(where: string, token: Claims, claims: unknown, user: unknown): Identity<unknown> | null {
  if (isNobody(`${where}: verify`, user)) return null
  const { scope, scp, roles, role } = token
  const own = user === claims || typeof user !== 'object' ? {} : (user as Claims)
  const held = own['roles'] ?? own['role'] ?? roles ?? role
  const scopes = scp === undefined ? namesIn(scope) : [...namesIn(scope), ...namesIn(scp)]
  return { user, claims, scopes, roles: namesIn(asList(held)) }
}

const none: readonly string[] = []

/** RFC 8693 §4.2: `scope` is a text. Some issuers have `scp`, a list or a text. */
function namesIn(given: unknown): readonly string[] {
  if (given === undefined) return none
  if (typeof given === 'string') return given.split(' ').filter((name) => name !== '')
  return Array.isArray(given) ? given.filter((name) => typeof name === 'string') : []
}
