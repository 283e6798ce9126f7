/** Guards: they let requests pass whose user may do this, and stand behind an authentication. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { refusal, VolantError } from '../errors/errors.ts'
import { checkText } from '../options/checks.ts'
import { bad } from '../options/bad-option.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { challengeText } from './challenge.ts'
import { type Auth, challengeOf, credentialsNeeded, forbidden } from './gate.ts'

/** A guard. It declares its refusal. */
export type Guard = FittingMiddleware<{ errors: { E_FORBIDDEN: { status: 403 } } }>

/**
 * Lets requests pass whose credentials have all of these scopes, and refuses others with 403:
 *
 *     app.with(bearer({ verify })).with(requireScope('orders:write')).post('/orders', create)
 *
 * The scopes are those of `ctx.state.auth.scopes`. Throws `E_BAD_OPTION`.
 */
export function requireScope(...scopes: readonly string[]): Guard {
  // The characters of a scope-token (RFC 6749 §3.3).
  checkAll('requireScope', scopes, /^[\x21\x23-\x5b\x5d-\x7e]+$/, 'names of scopes without spaces')
  const text = scopes.join(' ')
  const detail = `The request needs the scope ${text}`
  return guard(
    'requireScope',
    ({ scopes: held = [] }) => scopes.every((each) => held.includes(each)),
    detail,
    text,
  )
}

hintMisuse(requireScope, "app.with(requireScope('orders:write'))")

/**
 * Lets requests pass whose user has one of these roles, and refuses others with 403. The roles are those of
 * `ctx.state.auth.roles`. Throws `E_BAD_OPTION`.
 */
export function requireRole(...roles: readonly string[]): Guard {
  checkAll('requireRole', roles, /^.+$/, 'names of roles')
  const detail = `The request needs the role ${roles.join(' or ')}`
  return guard(
    'requireRole',
    ({ roles: held = [] }) => roles.some((each) => held.includes(each)),
    detail,
    null,
  )
}

hintMisuse(requireRole, "app.with(requireRole('admin'))")

function guard(
  name: string,
  holds: (auth: Partial<Auth>) => boolean,
  detail: string,
  scope: string | null,
): Guard {
  return gateOf(
    (ctx) => {
      const auth = authOf(ctx, name)
      if (holds(auth)) return undefined
      const challenge = scope === null ? null : challengeOf(auth)
      // RFC 6750 §3.1; other schemes have no such error.
      if (challenge?.scheme !== 'Bearer') throw refusal('E_FORBIDDEN', detail)
      const field = challengeText(challenge, { error: 'insufficient_scope', scope: scope as string })
      throw refusal('E_FORBIDDEN', detail, { 'www-authenticate': field })
    },
    {
      errors: forbidden,
      exposes: ['WWW-Authenticate'],
      beforeBody: true,
      ...(scope === null ? {} : { scopes: scope.split(' ') }),
    },
  ) as Guard
}

function authOf(ctx: RequestContext, name: string): Partial<Auth> {
  const auth = ctx.state['auth'] as Partial<Auth> | null | undefined
  if (auth !== undefined && auth !== null) return auth
  const needed = credentialsNeeded(ctx)
  if (needed !== null) throw needed
  throw new VolantError(
    'E_AUTH_MISSING',
    `${name}() ran for ${ctx.method} ${ctx.path} without an authentication in front of it: put bearer() or another one there`,
  )
}

function checkAll(where: string, names: readonly string[], good: RegExp, wanted: string): void {
  if (names.length === 0) throw bad(where, undefined, 'at least one name')
  for (const name of names) checkText(where, name, good, wanted)
}
