/**
 * Tokens of forms: bound to a session, and masked anew each time, so that a compressed page does not tell them (BREACH).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { refusal, VolantError } from '../errors/errors.ts'
import { requestName } from '../reply/late-reply.ts'
import { collectBody } from '../request/body.ts'
import type { RequestContext } from '../types/request.ts'
import type { LiveSession } from './live-session.ts'
import { sessionOf } from './session.ts'

const tokenBytes = 32
const field = '_csrf'
const header = 'x-csrf-token'
const form = /^[\w-]{86}$/

/** Makes tokens for the forms of a reply: `ctx.state.csrf`. */
export class CsrfTokens {
  readonly #ctx: RequestContext

  /** It is made by `csrf`. */
  constructor(ctx: RequestContext) {
    this.#ctx = ctx
  }

  /**
   * Gives a token for a field `_csrf`, or for the header `x-csrf-token`. It is another one each time, and all of them hold
   * as long as the session does. A visitor without a session gets one.
   */
  token(): string {
    const mask = randomBytes(tokenBytes)
    const bytes = expected(sessionIn(this.#ctx).bind())
    return Buffer.concat([mask, xor(mask, bytes)]).toString('base64url')
  }
}

/** Throws 403 for a request without the token of its session. */
export function checkToken(ctx: RequestContext): undefined | Promise<undefined> {
  const live = sessionIn(ctx)
  const loading = live.ready()
  const given = ctx.exchange.header(header)
  if (loading === undefined && given !== undefined) return compare(live, given)
  return checkLater(ctx, live, loading)
}

async function checkLater(
  ctx: RequestContext,
  live: LiveSession,
  loading: Promise<void> | undefined,
): Promise<undefined> {
  if (loading !== undefined) await loading
  const given = ctx.exchange.header(header)
  // The body of a stranger is not read.
  return compare(live, given === undefined && live.secretThatCame !== null ? await fieldOf(ctx) : given)
}

function compare(live: LiveSession, given: string | undefined): undefined {
  const secret = live.secretThatCame
  if (given !== undefined && secret !== null && form.test(given)) {
    const bytes = Buffer.from(given, 'base64url')
    const bare = xor(bytes.subarray(0, tokenBytes), bytes.subarray(tokenBytes))
    if (timingSafeEqual(bare, expected(secret))) return undefined
  }
  throw refusal(
    'E_CSRF',
    given === undefined
      ? `The token of the page is missing: it belongs into the field ${field} of the form, or into the header ${header}`
      : 'The token is not one of this session, which may have expired, or begun anew by signing in: load the page again',
  )
}

const formTypes = /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i

/** Gives the field of a form. Bodies that the handler reads as they arrive are left to it. */
async function fieldOf(ctx: RequestContext): Promise<string | undefined> {
  const { exchange, route, app } = ctx
  if (route.bodyMode === 'stream' || !formTypes.test(exchange.header('content-type') ?? '')) return undefined
  if (route.bodyMode === 'checked' && !ctx.rare?.collected) {
    // An authentication behind this one has the body read late.
    ctx.more.collected = await collectBody(exchange, route.maxBodySize, app.ledger)
  }
  const { readForm } = await import('../forms/forms.ts')
  const value = (await readForm(ctx, undefined))[field]
  return typeof value === 'string' ? value : undefined
}

function expected(secret: string): Buffer {
  return createHash('sha256').update('volant csrf\0').update(secret).digest()
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, at) => byte ^ (b[at] as number)))
}

function sessionIn(ctx: RequestContext): LiveSession {
  const live = sessionOf(ctx)
  if (live !== null) return live
  throw new VolantError(
    'E_SESSION_UNREAD',
    `csrf({ token: true }) of ${requestName(ctx)} has no session in front of it: register it behind app.with(sessions)`,
  )
}
