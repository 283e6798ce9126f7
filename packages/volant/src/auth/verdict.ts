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

/**
 * Gives the identity of a user. Its scopes are `user.scopes`, a list, or `user.scope`, names with spaces between them
 * (RFC 6749 §3.3); its roles are `user.roles` or `user.role`.
 */
export function identityOf(where: string, user: unknown): Identity<unknown> | null {
  if (user === null || user === undefined || user === false) return null
  if (typeof user !== 'object') return { user }
  const { scopes, scope, roles, role } = user as Record<string, unknown>
  return {
    user,
    scopes: namesIn(`${where}: scopes`, scopes ?? scope),
    roles: namesIn(`${where}: roles`, roles ?? role),
  }
}

/** Throws for a list of something else: a guard that took it for no scopes would hide the mistake. */
export function namesIn(where: string, given: unknown): readonly string[] {
  if (given === undefined || given === null) return []
  if (typeof given === 'string') return given.split(' ').filter((name) => name !== '')
  if (Array.isArray(given) && given.every((name) => typeof name === 'string')) return given
  throw new VolantError('E_BAD_OPTION', `${where} of a user are a list of names, not ${briefValue(given)}`)
}
