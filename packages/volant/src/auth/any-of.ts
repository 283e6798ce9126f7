/** `anyOf()` accepts requests that one of several authentications accepts. */
import { hintMisuse } from '../dispatch/declare.ts'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import { type Authenticating, authenticatingOf, type Authentication, authenticationOf } from './gate.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- whatever they add to the state
type AnyAuthentication = Authentication<any, any>

/** What one of several authentications adds to the state. */
type UserAmong<A> = A extends { readonly identity?: { user: infer User } } ? User : never
type AuthAmong<A> = A extends { readonly identity?: { auth: infer State } } ? State : never

/**
 * Lets requests pass that one of these authentications accepts. They are asked in their order:
 *
 *     app.with(anyOf(bearer({ verify: byToken }), apiKey({ in: 'header', name: 'x-api-key', keys })))
 *
 * `ctx.state.auth.scheme` says which one it was. A refusal has the challenges of all, and says of the credentials that
 * came what was wrong with them. Where one of them has `required: false`, requests without credentials pass. Throws
 * `E_BAD_HANDLER` for other middleware: `authenticate()` makes an authentication of your own.
 */
export function anyOf<const A extends readonly [AnyAuthentication, ...AnyAuthentication[]]>(
  ...authentications: A
): Authentication<UserAmong<A[number]>, AuthAmong<A[number]>> {
  const all = authentications.map(checked)
  if (all.length === 0) throw new VolantError('E_BAD_HANDLER', 'anyOf takes at least one authentication')
  const authenticators = all.flatMap((each) => each.authenticators)
  return authenticationOf<unknown>(
    authenticators,
    all.every(({ required }) => required),
    Object.assign({}, ...all.map(({ errors }) => errors)),
  )
}

hintMisuse(anyOf, 'app.with(anyOf(bearer(…), apiKey(…)))')

function checked(layer: unknown): Authenticating {
  const found = typeof layer === 'function' ? authenticatingOf(layer) : undefined
  if (found !== undefined) return found
  throw new VolantError(
    'E_BAD_HANDLER',
    `anyOf takes authentications, such as bearer(…) and what authenticate(…) made, not ${briefValue(layer)}`,
  )
}
