/** Whose key a request has, which name it has in the store, and what a repetition has to have in common with it. */
import { createHash } from 'node:crypto'
import { challengeOf } from '../auth/gate.ts'
import { VolantError } from '../errors/errors.ts'
import { addressKey } from '../rate-limit/key.ts'
import { requestName } from '../reply/late-reply.ts'
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
  const identity = identityOf(ctx)
  if (identity !== null) return { scope: identity, owner: identity }
  const address = `address ${addressKey(ctx)}`
  const secret = sessionOf(ctx)?.secretThatCame
  if (secret != null) return { scope: `session ${secret}`, owner: address }
  const authorization = ctx.exchange.header('authorization')
  return {
    scope: authorization === undefined ? address : `authorization ${authorization}`,
    owner: address,
  }
}

/** Gives whom an authentication found: a token that was renewed meanwhile has the same subject. */
function identityOf(ctx: RequestContext): string | null {
  const { auth, user } = (ctx.rare === undefined ? {} : ctx.state) as { auth?: unknown; user?: unknown }
  if (typeof auth !== 'object' || auth === null || challengeOf(auth) === null) return null
  const { iss, sub } = ((auth as { claims?: unknown }).claims ?? {}) as { iss?: unknown; sub?: unknown }
  if (typeof sub === 'string') return `subject ${JSON.stringify([iss, sub])}`
  const id: unknown = typeof user === 'object' && user !== null ? (user as { id?: unknown }).id : user
  return typeof id === 'string' || typeof id === 'number' ? `user ${JSON.stringify(id)}` : null
}

/** Gives a digest of what has to be the same where a key is repeated. */
export async function fingerprintOf(ctx: RequestContext, plan: IdempotencyPlan): Promise<string> {
  if (plan.fingerprint !== undefined) {
    const given = await plan.fingerprint(ctx as unknown as Context)
    if (typeof given !== 'string') throw noText(ctx, 'fingerprint', 'what a repetition has to have in common')
    return digestOf(ctx.method, given)
  }
  if (ctx.route.bodyMode === 'stream') {
    throw new VolantError(
      'E_BAD_OPTION',
      `idempotency() cannot compare the body of ${requestName(ctx)}, which the handler streams: give it a fingerprint of your own, such as (ctx) => ctx.url + ctx.headers['content-digest'], or leave this route out`,
    )
  }
  return digestOf(ctx.method, ctx.url, ctx.bodyBytes)
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
