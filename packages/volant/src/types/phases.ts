/**
 * How a request ends: the phases of its reply and of its chain, and all moves between them.
 *
 * They are two fields, because either may be first. A handler that works on after `ctx.json` has a reply while its chain
 * runs; one that calls `ctx.file` without awaiting it has a chain that has returned, and no reply yet.
 */

/**
 * The phases of a reply:
 *
 *     open ──────────────────────────▶ sent        (complete: the adapter has all of it)
 *      │  │                             ▲ ▲
 *      │  └──────────▶ streaming ───────┘ │        (the head has left, and its source is read)
 *      │               ▲   │    ▲         │
 *      │               │   └────┼─▶ broken│        (the source failed, or the handler did: the connection is reset)
 *      └─▶ sending ────┴────────┼─────────┤        (send hooks run: the reply is given, and has not left)
 *             │                 │         │
 *             └─▶ reopened ─────┴─────────┘        (a hook failed, or time was over: the error is answered past the hooks)
 *
 * They are in order: what is above `reopened` has a reply, and what is above `sending` has one whose head has left. A
 * client that disconnects ends a request in any phase; `exchange.aborted` says so.
 */
export const ReplyPhase = { open: 0, reopened: 1, sending: 2, streaming: 3, sent: 4, broken: 5 } as const
export type ReplyPhase = (typeof ReplyPhase)[keyof typeof ReplyPhase]

interface Phased {
  phase: ReplyPhase
}

/** Moves to `to`. A move that the diagram does not have is a mistake of this package. */
function move(ctx: Phased, from: (phase: ReplyPhase) => boolean, to: ReplyPhase): void {
  if (!from(ctx.phase)) throw new Error(`a reply went from phase ${ctx.phase} to ${to}`)
  ctx.phase = to
}

/** The send hooks begin to run. */
export function beginHooks(ctx: Phased): void {
  move(ctx, (phase) => phase === ReplyPhase.open, ReplyPhase.sending)
}

/** The reply that hooks have changed is given up: another one, which no hook sees, is due. */
export function reopen(ctx: Phased): void {
  move(ctx, (phase) => phase === ReplyPhase.sending, ReplyPhase.reopened)
}

/** The complete reply leaves. Its only caller has checked the phase, and this runs for every reply. */
export function leaveWhole(ctx: Phased): void {
  ctx.phase = ReplyPhase.sent
}

/** The head leaves, and its source is read from now on. */
export function beginStream(ctx: Phased): void {
  move(ctx, (phase) => phase <= ReplyPhase.sending, ReplyPhase.streaming)
}

/** The end of the stream was passed on. */
export function endStream(ctx: Phased): void {
  move(ctx, (phase) => phase === ReplyPhase.streaming, ReplyPhase.sent)
}

/** The stream ends before its content is complete. */
export function breakOff(ctx: Phased): void {
  if (ctx.phase === ReplyPhase.streaming) ctx.phase = ReplyPhase.broken
}

/**
 * The phases of a chain, the middleware and the handler of a request or of a procedure's call:
 *
 *     running ──────▶ returned ──▶ silent      (the outermost layer gave its value; `silent`: nobody replied, so 204 was)
 *      │   │             │           │
 *      │   └──▶ failed ◀─┴───────────┘         (an error is answered; a second one is not given to the error handler)
 *      │           │
 *      ▼           ▼
 *     expired ──▶ outlived                     (the time of the route was over: `expired` still runs, `outlived` does not)
 *
 * The last two are two, because a `next()` that comes late is refused after `outlived` alone. A layer behind a slow gate
 * calls its first `next()` when time is over, and nothing is wrong with that.
 *
 * They are in order: from `returned` on the chain is over.
 */
export const ChainPhase = { running: 0, expired: 1, returned: 2, silent: 3, failed: 4, outlived: 5 } as const
export type ChainPhase = (typeof ChainPhase)[keyof typeof ChainPhase]

interface Chaining {
  chain: ChainPhase
}

/** The outermost layer gave its value. What was answered meanwhile stays so. */
export function chainReturned(ctx: Chaining): void {
  if (ctx.chain === ChainPhase.running) ctx.chain = ChainPhase.returned
  else if (ctx.chain === ChainPhase.expired) ctx.chain = ChainPhase.outlived
}

/** Nobody replied, and the empty reply is about to be sent. */
export function chainSilent(ctx: Chaining): void {
  if (ctx.chain === ChainPhase.returned) ctx.chain = ChainPhase.silent
}

/** An error of the chain, or of the hooks behind it, is answered. */
export function chainFailed(ctx: Chaining): void {
  if (!isExpired(ctx)) ctx.chain = ChainPhase.failed
}

/** The time of the route is over. */
export function chainExpired(ctx: Chaining): void {
  ctx.chain = ctx.chain <= ChainPhase.expired ? ChainPhase.expired : ChainPhase.outlived
}

/** True where the value of the chain counts, and the last of its layers to settle concludes. */
export function hasReturned({ chain }: Readonly<Chaining>): boolean {
  return chain === ChainPhase.returned || chain === ChainPhase.silent
}

/** True where nothing of the chain is due any more. */
export function isOver({ chain }: Readonly<Chaining>): boolean {
  return chain >= ChainPhase.returned
}

/** True once the time of the route was over: later replies are dropped without a report, as the handler cannot know. */
export function isExpired({ chain }: Readonly<Chaining>): boolean {
  return chain === ChainPhase.expired || chain === ChainPhase.outlived
}

/**
 * What the layers of a chain left: `nothing` where the handler returned nothing, or the error of the innermost layer
 * that failed. It counts where the chain ends without a reply: a middleware may have swallowed the error.
 */
export type LayerOutcome = null | 'nothing' | { readonly error: unknown }

interface Layered {
  layers: LayerOutcome
}

/** The handler returned nothing. */
export function handlerReturnedNothing(ctx: Layered): void {
  ctx.layers ??= 'nothing'
}

/** A layer failed. An error counts for more than a handler that returned nothing, and the first one is the innermost. */
export function layerFailed(ctx: Layered, error: unknown): void {
  if (ctx.layers === null || ctx.layers === 'nothing') ctx.layers = { error }
}
