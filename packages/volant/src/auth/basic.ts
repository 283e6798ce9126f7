/** `basic()` accepts a name and a password with each request (RFC 7617). */
import { hintMisuse } from '../dispatch/declare.ts'
import type { Context } from '../types/context.ts'
import { bad } from '../options/bad-option.ts'
import type { RequestContext } from '../types/request.ts'
import { tokenOf } from './authorization.ts'
import { checkRealm } from './challenge.ts'
import { type Authentication, Refusal } from './gate.ts'
import { faulty, textFault } from './owners.ts'
import { SecretTable } from './safe-equal.ts'
import {
  type AuthenticationOptions,
  checkSources,
  schemeMiddleware,
  type SchemeMiddleware,
  type VerifiedBy,
} from './scheme.ts'
import type { Verified } from './verdict.ts'

interface BasicBase<Required extends boolean> extends AuthenticationOptions<Required> {
  /** The realm, which browsers may show in the dialog for the password. */
  realm: string
}

/** The options of `basic` for users that are known when the app starts. */
export interface BasicUsersOptions<
  Users extends Readonly<Record<string, string | undefined>> = Readonly<Record<string, string | undefined>>,
  Required extends boolean = boolean,
> extends BasicBase<Required> {
  /** The passwords by name. `ctx.state.user` is the name. */
  users: Users
}

/** The options of `basic` with a function that knows the users. */
export interface BasicVerifyOptions<
  V = unknown,
  Required extends boolean = boolean,
> extends BasicBase<Required> {
  /** Gives the user; null, undefined or false refuse the request with 401. Name and password are in NFC. */
  verify: (name: string, password: string, ctx: Context) => Verified<V>
}

/**
 * Lets requests pass that have `Authorization: Basic` with a known name and password, and refuses others with 401
 * before their body is read:
 *
 *     app.with(basic({ realm: 'Staff', users: { ada: process.env.ADA_PASSWORD } })).get('/admin', (ctx) => ctx.state.user)
 *
 * Browsers then ask for both. Each request has the password, so that it belongs on TLS alone. Throws `E_BAD_OPTION`.
 */
export function basic<V, const Required extends boolean = true>(
  options: BasicVerifyOptions<V, Required>,
): VerifiedBy<V, 'basic', Required>
export function basic<
  const Users extends Readonly<Record<string, string | undefined>>,
  const Required extends boolean = true,
>(
  options: BasicUsersOptions<Users, Required>,
): SchemeMiddleware<Extract<keyof Users, string>, 'basic', Required>
export function basic(options: BasicVerifyOptions | BasicUsersOptions): Authentication<never, never> {
  checkSources('basic', options, ['realm'], ['users', 'verify'], foreign)
  const realm = checkRealm('basic: realm', options.realm)
  const { users }: Partial<BasicUsersOptions> = options
  const table = users === undefined ? null : tableOf(users)
  return schemeMiddleware(
    {
      where: 'basic',
      schemeName: 'basic',
      security: { type: 'http', scheme: 'basic' },
      // RFC 7617 §2.1: it asks the client for UTF-8.
      challenge: { scheme: 'Basic', params: { realm, charset: 'UTF-8' } },
      unknown: new Refusal(401, 'The name or the password is wrong'),
      read: userIn,
    },
    options,
    (name, password) => {
      const found = table?.find(pairOf(name as string, password as string))
      return found ? { user: found.owner } : null
    },
  )
}

hintMisuse(basic, "app.with(basic({ realm: 'Staff', users }))")

/** The names in @fastify/basic-auth, express-basic-auth and hono. */
const foreign = {
  validate: 'verify',
  authorizer: 'verify',
  authorizeAsync: 'verify, which may be async',
  authenticate: 'realm',
  challenge: 'a refusal always has its challenge; realm is its text',
  username: 'write users: { name: password }',
  password: 'write users: { name: password }',
  verifyUser: 'verify',
  unauthorizedResponse: 'write onError of the app or scope, which gets the error',
} satisfies Readonly<Record<string, string>>

function tableOf(users: unknown): SecretTable<string> {
  if (typeof users !== 'object' || users === null || Array.isArray(users)) {
    throw bad(
      'basic: users',
      Array.isArray(users) ? users : typeof users,
      'passwords by name, as { ada: password }',
    )
  }
  const entries = Object.entries(users as Record<string, unknown>).map(([name, password]) => {
    const where = `basic: users.${name}`
    if (name === '' || name.includes(':') || control.test(name)) {
      throw faulty(
        where,
        'has a name that cannot be sent: a name has no colon and no control character (RFC 7617 §2)',
      )
    }
    const fault = textFault(password)
    if (fault !== null) throw faulty(where, fault)
    if (control.test(password as string)) throw faulty(where, 'has a control character, which cannot be sent')
    if (/^\$(?:argon2|scrypt|2[aby])/.test(password as string)) {
      throw faulty(
        where,
        'is the hash of a password, which would be taken for the password itself: write verify, which calls verifyPassword()',
      )
    }
    return [name, pairOf(name.normalize('NFC'), (password as string).normalize('NFC'))] as const
  })
  if (entries.length === 0) throw faulty('basic: users', 'is empty, so that nobody could pass')
  return new SecretTable(entries)
}

/** A name has no colon, so that no two pairs have one text. */
function pairOf(name: string, password: string): string {
  return `${name}:${password}`
}

// oxlint-disable-next-line no-control-regex -- RFC 7617 §2 forbids them
const control = /[\x00-\x1f\x7f]/

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Gives name and password (RFC 7617 §2). */
function userIn(ctx: RequestContext): readonly [string, string] | Refusal | null {
  const token = tokenOf(ctx, 'basic', {})
  if (typeof token !== 'string') return token
  if (!base64.test(token)) return malformed('is not base64')
  let text: string
  try {
    // RFC 7617 §2.1 refers to NFC.
    text = utf8.decode(Buffer.from(token, 'base64')).normalize('NFC')
  } catch {
    return malformed('is not UTF-8')
  }
  if (control.test(text)) return malformed('has control characters')
  const colon = text.indexOf(':')
  if (colon === -1) return malformed('has no colon between name and password')
  return [text.slice(0, colon), text.slice(colon + 1)]
}

function malformed(what: string): Refusal {
  return new Refusal(400, `What Authorization has after Basic ${what}`)
}
