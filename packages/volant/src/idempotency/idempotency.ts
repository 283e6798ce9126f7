/** `idempotency()` runs a request with an Idempotency-Key once, and gives its repetitions the same reply. */
import { attach, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, refusal, VolantError } from '../errors/errors.ts'
import { requestName } from '../reply/late-reply.ts'
import type { DeclaredErrors, FittingMiddleware } from '../types/parts.ts'
import type { Layer, RequestContext } from '../types/request.ts'
import { GuardedKeys } from './guarded-keys.ts'
import { fingerprintOf, readKey, storedName } from './key.ts'
import { type IdempotencyOptions, type IdempotencyPlan, planOf } from './options.ts'
import { type KeptReply, type KeyRecord, runningText } from './records.ts'
import { fieldsOf, replay, replayedField, restore } from './reply-parts.ts'
import { Running } from './running.ts'

/** The errors that `idempotency()` declares. */
export interface IdempotencyErrors {
  /** The key is missing where it is required, or malformed. */
  E_IDEMPOTENCY_KEY: { status: 400 }
  /** A request with the key is still at work. */
  E_IDEMPOTENCY_BUSY: { status: 409 }
  /** The request with the key was carried out, and its reply was not kept. */
  E_IDEMPOTENCY_LOST: { status: 409 }
  /** The key belongs to another request. */
  E_IDEMPOTENCY_REUSED: { status: 422 }
}

/**
 * Runs a request by POST or PATCH that has the field Idempotency-Key once, by draft-ietf-httpapi-idempotency-key-header-07:
 *
 *     app.use(idempotency({ store: redisKeys(client) }))
 *
 * Its reply is kept for a day: status, fields but Set-Cookie, and body. A repetition gets it with `Idempotent-Replayed:
 * true`, and the handler does not run. While the first request is at work a repetition is 409 `E_IDEMPOTENCY_BUSY`; the
 * same key with another request is 422 `E_IDEMPOTENCY_REUSED`. Replies that say that nothing was done, such as 500, free the
 * key. Streams, files and long bodies are not kept: their repetitions are 409 `E_IDEMPOTENCY_LOST`, and do not run either.
 *
 * It stands behind authentication, so that it knows whose key it is. Throws `E_BAD_OPTION`.
 */
export function idempotency(options: IdempotencyOptions): FittingMiddleware<{ errors: IdempotencyErrors }> {
  const plan = planOf(options)
  const keys = new GuardedKeys(plan)
  const layer: Layer = (ctx, next) => {
    if (!plan.methods.has(ctx.method)) return next()
    const field = ctx.exchange.header('idempotency-key')
    if (field !== undefined) return run(ctx, field, next, plan, keys)
    if (!plan.isRequired) return next()
    throw refusal(
      'E_IDEMPOTENCY_KEY',
      'Idempotency-Key is missing: send a random text of your own, such as a UUID',
    )
  }
  return attach(layer, {
    errors: errorsOf(plan),
    exposes: [replayedField, 'Retry-After'],
    isOfRequest: true,
    readsBody: true,
    sendConcerns: (ctx) => atWork.has(ctx),
    onSend: (ctx, reply) => {
      const request = ctx as unknown as RequestContext
      const work = atWork.get(request)
      if (work instanceof Running) return work.leaves(reply)
      if (work !== undefined && !work.reply.isRaw) restore(request, reply, work.reply, work.before)
      return undefined
    },
  }) as never
}

hintMisuse(idempotency, 'app.use(idempotency({ store: redisKeys(client) }))')

/** A request whose reply was kept before, with the fields that it had when it came here. */
interface Repetition {
  readonly reply: KeptReply
  readonly before: readonly string[]
}

/** The requests with a key. */
const atWork = new WeakMap<RequestContext, Running | Repetition>()

async function run(
  ctx: RequestContext,
  field: string,
  next: () => Promise<void>,
  plan: IdempotencyPlan,
  keys: GuardedKeys,
): Promise<void> {
  if (atWork.has(ctx)) {
    throw new VolantError(
      'E_MIDDLEWARE_CONFLICT',
      `${requestName(ctx)} has two middlewares of idempotency(), and the second one would wait for the first: keep one of them`,
    )
  }
  const key = readKey(field)
  if (key === null) {
    throw refusal(
      'E_IDEMPOTENCY_KEY',
      'Idempotency-Key is one text of 1 to 255 characters, as in Idempotency-Key: "8e03978e-40d5"',
    )
  }
  const fingerprint = await fingerprintOf(ctx, plan)
  const { name, owner } = await storedName(ctx, key, plan)
  const text = runningText(fingerprint)
  const found = await keys.take(ctx, name, text, owner)
  if (found === 'down' || found === 'full') {
    if (plan.onStoreError === 'allow') return next()
    ctx.place('retry-after', 'retry-after', '1')
    throw refusal(
      'E_IDEMPOTENCY_STORE',
      found === 'full'
        ? 'There is no room for another key now: ask again later'
        : 'Nobody can tell now whether this request ran before: ask again in a second',
    )
  }
  if (found !== null) return repeat(ctx, found, fingerprint)
  const running = new Running(ctx, keys, plan, { name, text, fingerprint, owner })
  atWork.set(ctx, running)
  try {
    await next()
  } catch (error) {
    return running.ends(error, true)
  }
  return running.ends(null, false)
}

/** Answers a request whose key is known. */
function repeat(ctx: RequestContext, found: KeyRecord, fingerprint: string): void {
  if (found.fingerprint !== fingerprint) {
    throw refusal(
      'E_IDEMPOTENCY_REUSED',
      'The key came with another request before: a new request takes a new key',
    )
  }
  if (found.state === 'running') {
    ctx.place('retry-after', 'retry-after', '1')
    throw refusal('E_IDEMPOTENCY_BUSY', 'The request with this key is still at work: ask again in a second')
  }
  if (found.state !== 'kept') {
    throw refusal(
      'E_IDEMPOTENCY_LOST',
      'The request with this key was carried out, and its reply was not kept',
    )
  }
  atWork.set(ctx, { reply: found.reply, before: fieldsOf(ctx) })
  replay(ctx, found.reply)
}

function errorsOf({ onStoreError }: IdempotencyPlan): DeclaredErrors {
  const declared = (code: keyof typeof errorTable, headers?: Record<string, string>): DeclaredErrors => ({
    [code]: {
      status: errorTable[code].status,
      description: errorTable[code].meaning,
      ...(headers === undefined ? {} : { headers }),
    },
  })
  const again = { 'Retry-After': 'The seconds after which to ask again.' }
  return {
    ...declared('E_IDEMPOTENCY_KEY'),
    ...declared('E_IDEMPOTENCY_BUSY', again),
    ...declared('E_IDEMPOTENCY_LOST'),
    ...declared('E_IDEMPOTENCY_REUSED'),
    ...(onStoreError === 'deny' ? declared('E_IDEMPOTENCY_STORE', again) : {}),
  }
}
