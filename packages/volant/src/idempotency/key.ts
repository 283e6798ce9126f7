/** Whose key a request has, which name it has in the store, and what a repetition has to have in common with it. */
import { createHash } from 'node:crypto'
import type { Challenge } from '../auth/challenge.ts'
import { challengeOf } from '../auth/gate.ts'
import { VolantError } from '../errors/errors.ts'
import { addressKey } from '../rate-limit/key.ts'
import { requestName } from '../reply/late-reply.ts'
import { printLine } from '../report/print-line.ts'
import { sessionOf } from '../session/session.ts'
import type { Context } from '../types/context.ts'
import type { RequestContext } from '../types/request.ts'
import type { IdempotencyPlan } from './options.ts'

/** A longer key is refused: those that are made at random have 36 characters or less. */
const longest = 255

/** A string of structured fields (RFC 9651 §3.3.3). */
const quoted = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/
/** Most clients leave the quotes out. */
const bare = /^[!#-+\--~]+$/

/**
 * Reads the field of draft-ietf-httpapi-idempotency-key-header-07 §2.1, with its quotes or without them. Gives null for one
 * that is malformed, empty or too long.
 */
export function readKey(field: string): string | null {
  const [, inner] = quoted.exec(field) ?? []
  const key = inner === undefined ? (bare.test(field) ? field : '') : inner.replace(/\\(.)/g, '$1')
  return key === '' || key.length > longest ? null : key
}

/** The name of a key in the store, and whom the store counts it for. */
export interface StoredName {
  readonly name: string
  readonly owner: string
}

/** Gives the name of a key in the store, in which neither the caller nor the key can be read. */
export async function storedName(
  ctx: RequestContext,
  key: string,
  plan: IdempotencyPlan,
): Promise<StoredName> {
  const { scope, owner } = plan.scope === undefined ? callerOf(ctx) : await givenCaller(ctx, plan.scope)
  return { name: `${plan.nameSpace}:${digestOf(scope, key)}`, owner: digestOf(owner) }
}

/** Whose key a request has. */
interface Caller {
  readonly scope: string
  /** Another text where clients can make up as many scopes as they like. */
  readonly owner: string
}

async function givenCaller(
  ctx: RequestContext,
  scopeOf: NonNullable<IdempotencyPlan['scope']>,
): Promise<Caller> {
  const scope: unknown = await scopeOf(ctx as unknown as Context)
  if (typeof scope !== 'string') throw noText(ctx, 'scope', 'the name of the caller')
  return { scope, owner: scope }
}

function callerOf(ctx: RequestContext): Caller {
  const known = authenticated(ctx)
  if (known !== null) return { scope: known, owner: known }
  const address = `address ${addressKey(ctx)}`
  const secret = sessionOf(ctx)?.secretThatCame
  if (secret != null) return { scope: `session ${secret}`, owner: address }
  // Who checks these himself has another caller for each of them.
  const sent = credentialFields.map((name) => ctx.exchange.header(name) ?? null)
  if (sent.some((value) => value !== null)) return { scope: `fields ${JSON.stringify(sent)}`, owner: address }
  warnOfProxy(ctx, address)
  return { scope: address, owner: address }
}

const credentialFields = ['authorization', 'x-api-key'] as const

/** Gives whom an authentication found; null where none has found anybody. */
function authenticated(ctx: RequestContext): string | null {
  const { auth, user } = (ctx.rare === undefined ? {} : ctx.state) as { auth?: unknown; user?: unknown }
  if (typeof auth !== 'object' || auth === null) return null
  const challenge = challengeOf(auth)
  if (challenge === null) return null
  // A token that was renewed meanwhile has the same subject.
  const { iss, sub } = ((auth as { claims?: unknown }).claims ?? {}) as { iss?: unknown; sub?: unknown }
  if (typeof sub === 'string') return `subject ${JSON.stringify([iss, sub])}`
  const id: unknown = typeof user === 'object' && user !== null ? (user as { id?: unknown }).id : user
  if (typeof id === 'string' || typeof id === 'number') return `user ${JSON.stringify(id)}`
  const credential = credentialOf(ctx, challenge)
  if (credential !== null) return credential
  throw new VolantError(
    'E_BAD_OPTION',
    `idempotency() cannot tell whose key ${requestName(ctx)} has: its authentication passed, and its user has no id. Have verify give a user with an id, or write scope: (ctx) => … , which names the caller`,
  )
}

/** Gives what a user without an id has passed an authentication with; null where its place is not known. */
function credentialOf(ctx: RequestContext, { scheme, params = {} }: Challenge): string | null {
  const { in: place, name } = params
  if (scheme === 'Cookie' || place === 'cookie') {
    // The cookie of a session may be another one with each reply, and its secret is not.
    const secret = sessionOf(ctx)?.secretThatCame
    if (secret != null) return `session ${secret}`
  }
  const [value, where] =
    place === undefined || name === undefined
      ? [authorizationOf(ctx, scheme), 'authorization']
      : place === 'header'
        ? [ctx.exchange.header(name.toLowerCase()), name.toLowerCase()]
        : place === 'cookie'
          ? [ctx.cookies[name], name]
          : [ctx.query[name], name]
  return typeof value === 'string' && value !== ''
    ? `credential ${JSON.stringify([scheme, place, where, value])}`
    : null
}

/** Gives the field Authorization where it has this scheme. */
function authorizationOf(ctx: RequestContext, scheme: string): string | undefined {
  const field = ctx.exchange.header('authorization')
  return field?.toLowerCase().startsWith(`${scheme.toLowerCase()} `) === true ? field : undefined
}

let warned = false

/** Tells once that all clients behind a proxy are one caller. */
function warnOfProxy(ctx: RequestContext, address: string): void {
  if (warned || ctx.app.trust !== null || ctx.exchange.header('x-forwarded-for') === undefined) return
  warned = true
  printLine(
    `volant: idempotency() took ${address} for the caller of a request that has X-Forwarded-For: if that is the address of a proxy, all its clients are taken for one caller, until createApp({ trustProxy }) names the proxy, or scope names the callers`,
  )
}

/** Gives a digest of what has to be the same where a key is repeated. */
export async function fingerprintOf(ctx: RequestContext, plan: IdempotencyPlan): Promise<string> {
  if (plan.fingerprint !== undefined) {
    const given = await plan.fingerprint(ctx as unknown as Context)
    if (typeof given !== 'string') throw noText(ctx, 'fingerprint', 'what a repetition has to have in common')
    return digestOf(ctx.method, hostOf(ctx), given, cookiesOf(ctx, plan))
  }
  if (ctx.route.bodyMode === 'stream') {
    throw new VolantError(
      'E_BAD_OPTION',
      `idempotency() cannot compare the body of ${requestName(ctx)}, which the handler streams: give it a fingerprint of your own, such as (ctx) => ctx.url + ctx.headers['content-digest'], or leave this route out`,
    )
  }
  return digestOf(ctx.method, hostOf(ctx), ctx.url, ctx.bodyBytes, cookiesOf(ctx, plan))
}

/**
 * Gives the host without its port. Tenants that are told apart by it may have users of the same id. It is no part of the
 * name, since a proxy may send a repetition with the host of another machine: that is refused, and would run again else.
 */
function hostOf(ctx: RequestContext): string {
  return ctx.host.toLowerCase().replace(/:\d*$/, '')
}

/**
 * Gives the cookies of a caller whom nothing names but what the request says: a login of the app's own may be among them.
 * With other cookies a repetition gets no reply, and is refused: if cookies named the caller, it would run again.
 */
function cookiesOf(ctx: RequestContext, plan: IdempotencyPlan): string {
  if (plan.scope !== undefined || sessionOf(ctx)?.secretThatCame != null) return ''
  return authenticated(ctx) === null ? (ctx.exchange.header('cookie') ?? '') : ''
}

function noText(ctx: RequestContext, name: string, what: string): VolantError {
  return new VolantError(
    'E_BAD_OPTION',
    `idempotency: ${name} gave no text for ${requestName(ctx)}: it gives ${what}`,
  )
}

/** Gives a digest in which the parts are told apart. */
function digestOf(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part, 'utf16le') : part
    hash.update(`${bytes.length} `).update(bytes)
  }
  return hash.digest('base64url')
}
