/** `fromConnect` makes middleware and handlers of what was written for connect and Express. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { attach, type ErrorStep, hintMisuse, metadataOf } from '../dispatch/declare.ts'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import { pairOf, type Pair } from './pair.ts'
import { replay } from './replay.ts'
import { type ConnectNext, type StackEntry, type ErrorLayer, StackRun, type Step } from './run.ts'
import { type Mount, mountOf } from './mount.ts'
import type { Context, ContextOf } from '../types/context.ts'
import type { Next } from '../types/parts.ts'
import { isThenable } from '../types/thenable.ts'
import type { Layer, RequestContext } from '../types/request.ts'

/** A middleware or handler of connect or Express, or an app or router of Express. */
export type ConnectMiddleware = {
  run(req: IncomingMessage, res: ServerResponse, next: ConnectNext): unknown
}['run']

/** A middleware that takes errors, as Express tells by its four parameters. */
export type ConnectErrorMiddleware = {
  run(error: unknown, req: IncomingMessage, res: ServerResponse, next: ConnectNext): unknown
}['run']

/** One of them, or a list. */
export type ConnectStack = ConnectMiddleware | ConnectErrorMiddleware | readonly ConnectStack[]

/** What `fromConnect` gives: a middleware, and where it stands last on a route its handler. */
export interface Connected {
  // oxlint-disable-next-line typescript/no-explicit-any -- it fits every context
  (ctx: ContextOf<any>, next?: Next): unknown
}

/**
 * Makes a middleware of what was written for connect or Express:
 *
 *     app.use(fromConnect(helmet(), morgan('tiny')))
 *     app.use('/files', fromConnect(serveStatic('public')))
 *     app.get('/old', fromConnect((req, res) => res.end('hello')))
 *
 * It takes middlewares, handlers, routers and apps of Express, and lists of them. `req` and `res` are made of the
 * context, one pair for a request, and are an IncomingMessage and a ServerResponse. Headers that a middleware sets are
 * those of the context; `req.body` becomes `ctx.body`. A reply of the context is played into `res` where a middleware
 * has replaced its methods, as compression and session stores do. An error that is passed to `next` is answered by
 * `onError`, with the status that it carries. On a route it may stand last, as the handler.
 *
 * Throws `E_BAD_HANDLER` for what is not such a middleware. What cannot be supported throws `E_CONNECT_UNSUPPORTED` when
 * it is called (docs/guide/26-connect-middleware.md).
 */
export function fromConnect(...stack: ConnectMiddleware[]): Connected
export function fromConnect(...stack: ConnectStack[]): Connected
export function fromConnect(...stack: ConnectStack[]): Connected {
  const entries = entriesOf(stack)
  return connected(entries, {}, null)
}

hintMisuse(fromConnect, 'app.use(fromConnect(middleware))')

/**
 * Gives the request and the reply that the connect middlewares of this request see. `connectOf<Express.Request>(ctx)` has
 * in its type what the types of middlewares add to requests: `req.user`, `req.session`.
 */
export function connectOf<Added extends object = object>(
  ctx: Context,
): { req: IncomingMessage & Added; res: ServerResponse } {
  const { req, res } = pairOf(ctx as unknown as RequestContext)
  return { req: req as unknown as IncomingMessage & Added, res: res as unknown as ServerResponse }
}

/** `key` stands for this stack where a request remembers it. */
function connected(entries: readonly StackEntry[], key: object, mount: Mount | null): Connected {
  const layer = (given: unknown, next?: Next): unknown => {
    const ctx = given as RequestContext
    const pair = pairOf(ctx)
    const { res } = pair
    if (ctx.statusCode !== 0) res.statusCode = ctx.statusCode
    const { write, end, writeHead, on, statusCode } = res
    mount?.enter(pair)
    const leave = (isFailure: boolean): void => {
      mount?.leave(pair)
      handOver(pair)
      if (!isFailure && !pair.isOwn && res.statusCode !== statusCode) ctx.status(res.statusCode)
      // Replies of the context are played into what has replaced the methods by which replies leave.
      if (res.end !== end || res.writeHead !== writeHead || res.write !== write || res.on !== on)
        pair.layer = key
    }
    return new StackRun(pair, entries, key, next, leave).start()
  }
  const errorEntries = entries.slice(entries.findIndex(({ kind }) => kind === 'error'))
  const onError: ErrorStep = (error, ctx, next) => {
    const pair = pairOf(ctx)
    // This list has seen it.
    if (pair.seen === error && pair.seenBy === key) return next(error)
    const leave = (): void => {
      mount?.leave(pair)
      handOver(pair)
    }
    let result: unknown
    try {
      mount?.enter(pair)
      result = new StackRun(pair, errorEntries, key, undefined, leave).start(error)
    } catch (failure) {
      return next(failure)
    }
    return isThenable(result) ? result.then(undefined, next) : result
  }
  return attach(layer as Connected, {
    onSend: (ctx, reply) => {
      const pair = (ctx as unknown as RequestContext).rare?.connect as Pair | undefined
      if (pair === undefined || pair.layer !== key || pair.isOwn) return undefined
      return replay(pair, ctx as unknown as RequestContext, reply)
    },
    mounted: (paths) => connected(entries, key, mountOf(paths)) as unknown as Layer,
    ...(errorEntries[0]?.kind === 'error' ? { onError } : {}),
    ...(entries.every(({ kind }) => kind === 'error') ? { skip: true } : {}),
  })
}

/** Gives the context the headers and the body that the middlewares left. */
function handOver(pair: Pair): void {
  const { ctx, req, res } = pair
  if (!pair.hasLeft && !pair.isOwn) res._store.flush(false)
  const { body } = req as unknown as { body?: unknown }
  if (body !== undefined && body !== pair.body) {
    pair.body = body
    ctx.body = body
  }
}

function entriesOf(stack: readonly unknown[]): StackEntry[] {
  const flat = stack.flat(Infinity)
  if (flat.length === 0) throw new VolantError('E_BAD_HANDLER', 'fromConnect takes at least one middleware')
  return flat.map(entryOf)
}

function entryOf(value: unknown): StackEntry {
  if (typeof value !== 'function') {
    const { handle } = (value ?? {}) as { handle?: unknown }
    const hint = typeof handle === 'function' ? ': pass its handle method, bound to it' : ''
    throw new VolantError(
      'E_BAD_HANDLER',
      `fromConnect takes middlewares (req, res, next), not ${briefValue(value)}${hint}`,
    )
  }
  if (Object.keys(metadataOf(value)).length > 0) {
    throw new VolantError(
      'E_BAD_HANDLER',
      `fromConnect was given ${value.name || 'a function'}, which is a middleware of Volant: give it to app.use() itself`,
    )
  }
  const { handle, set } = value as { handle?: unknown; set?: unknown }
  if (typeof handle === 'function' && typeof set === 'function') return { kind: 'app', run: value as Step }
  if (value.length === 1) {
    const name = value.name || 'a function'
    throw new VolantError(
      'E_BAD_HANDLER',
      `fromConnect was given ${name}, which takes one parameter, and a middleware takes (req, res, next): if it makes one, write fromConnect(${name}())`,
    )
  }
  if (value.length === 4) return { kind: 'error', run: value as unknown as ErrorLayer }
  return { kind: 'step', run: value as Step }
}
