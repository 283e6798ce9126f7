/** What the options of all authentications share, and the middleware that is made of them. */
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkFunction, checkNames, checkText } from '../options/checks.ts'
import type { ForeignNames } from '../options/option-names.ts'
import type { RequestContext } from '../types/request.ts'
import type { Challenge } from './challenge.ts'
import { type Auth, type Authentication, authenticationOf, type Identity, type Refusal } from './gate.ts'
import { type UserOf, type Verify, verified } from './verdict.ts'

/** The options of all authentications. */
export interface AuthenticationOptions<Required extends boolean> {
  /**
   * False lets requests without credentials pass, with null in `ctx.state.user` and `ctx.state.auth`. Wrong credentials
   * are refused. Default true.
   */
  required?: Required | undefined
  /** The name of the security scheme in the API's document. */
  schemeName?: string | undefined
}

/** The middleware of a scheme: what it adds may be null where credentials are not required. */
export type SchemeMiddleware<User, Scheme extends string, Required extends boolean> = Authentication<
  false extends Required ? User | null : User,
  false extends Required ? Auth<Scheme, undefined> | null : Auth<Scheme, undefined>
>

/** The middleware of a scheme whose `verify` gives `V`. */
export type VerifiedBy<V, Scheme extends string, Required extends boolean> = SchemeMiddleware<
  UserOf<V>,
  Scheme,
  Required
>

/** One scheme, before its options are checked. */
export interface Scheme {
  /** The function that users call, for messages. */
  readonly where: string
  readonly schemeName: string
  readonly security: Readonly<Record<string, unknown>>
  readonly challenge: Challenge
  readonly unknown: Refusal
  /** Gives the arguments that come before the context in `verify`. */
  readonly read: (ctx: RequestContext) => readonly string[] | Refusal | null
}

/** Makes the middleware; `find` knows the credentials where there is no `verify`. */
export function schemeMiddleware(
  scheme: Scheme,
  options: AuthenticationOptions<boolean> & { verify?: unknown },
  find: (...credentials: string[]) => Identity<unknown> | null,
): Authentication<never, never> {
  const { where, security, challenge, unknown, read } = scheme
  const { verify } = options
  checkFunction(`${where}: verify`, verify)
  const by = verify as Verify | undefined
  return authenticationOf<readonly string[]>(
    [
      {
        scheme: checkSchemeName(where, options.schemeName ?? scheme.schemeName),
        security,
        challenge,
        unknown,
        read,
        verify: (given, ctx) =>
          by === undefined ? find(...given) : verified(`${where}: verify`, by, given, ctx),
      },
    ],
    checkFlag(`${where}: required`, options.required, true),
  )
}

export function checkSchemeName(where: string, name: unknown): string {
  // OpenAPI 3.1 §4.8.7.1 allows these names.
  return checkText(`${where}: schemeName`, name, /^[\w.-]+$/, "a name of letters, digits, '.', '-' and '_'")
}

/** Checks the names of options, and that exactly one of `sources` says which credentials are good. */
export function checkSources(
  where: string,
  options: unknown,
  names: readonly string[],
  sources: readonly string[],
  foreign?: ForeignNames,
): void {
  checkNames(where, options, ['required', 'schemeName', ...names, ...sources], foreign)
  const given = sources.filter((name) => (options as Record<string, unknown>)[name] !== undefined)
  if (given.length === 1) return
  const missing = Object.keys(options as object).filter((name) => sources.includes(name))
  if (given.length === 0 && missing.length > 0) {
    throw bad(`${where}: ${missing.join(', ')}`, undefined, 'a value (is its environment variable set?)')
  }
  throw bad(where, given.length === 0 ? 'none' : given.join(' and '), `one of ${sources.join(', ')}`)
}
