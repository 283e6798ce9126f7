/** What the functions `verify` of users give, and the identity that it becomes. */
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import type { Identity } from './gate.ts'

/** The result of a `verify`: a user, or nothing for credentials that are not accepted. */
export type Verified<V> = V | Promise<V>

/** The user that a `verify` with this result gives. */
export type UserOf<V> = Exclude<V, null | undefined | false>

/** A `verify` as the framework calls it. */
export type Verify = (...given: [...credentials: string[], ctx: Context]) => unknown

/** Calls a `verify`; the message of a mistake names it by `where`. */
export function verified(
  where: string,
  verify: Verify,
  credentials: readonly string[],
  ctx: RequestContext,
): Identity<unknown> | null | Promise<Identity<unknown> | null> {
  const given = verify(...credentials, ctx as unknown as Context)
  return isThenable(given)
    ? Promise.resolve(given).then((user) => identityOf(where, user))
    : identityOf(where, given)
}

/** True for what `verify` gives for credentials that are not accepted. Throws for what can only be a mistake. */
export function isNobody(where: string, user: unknown): user is null | undefined | false {
  if (user === null || user === undefined || user === false) return true
  // Who gives an error or a reply means a refusal. It must not become a user.
  if (user instanceof Error) throw user
  if (user instanceof Response) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where} gave a Response, which is no user: return null to refuse the credentials`,
    )
  }
  return false
}

/**
 * Gives the identity of a user. Its scopes are `user.scopes`, a list, or `user.scope`, names with spaces between them
 * (RFC 6749 §3.3); its roles are `user.roles`, a list, or `user.role`, one name.
 */
export function identityOf(where: string, user: unknown): Identity<unknown> | null {
  if (isNobody(where, user)) return null
  if (typeof user !== 'object') return { user }
  const { scopes, scope, roles, role } = user as Record<string, unknown>
  return {
    user,
    scopes: namesIn(`${where}: scopes`, scopes ?? scope),
    roles: namesIn(`${where}: roles`, asList(roles ?? role)),
  }
}

/** A role may have spaces in its name: whoever is a `store admin` is no `admin`. */
export function asList(roles: unknown): unknown {
  return typeof roles === 'string' ? [roles] : roles
}

/** Throws for a list of something else: a guard that took it for no scopes would hide the mistake. */
export function namesIn(where: string, given: unknown): readonly string[] {
  if (given === undefined || given === null) return []
  if (typeof given === 'string') return given.split(' ').filter((name) => name !== '')
  if (Array.isArray(given) && given.every((name) => typeof name === 'string')) return given
  throw new VolantError('E_BAD_OPTION', `${where} of a user are a list of names, not ${briefValue(given)}`)
}
