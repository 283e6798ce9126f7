/** The phases of the reply to one request, and the moves between them. */

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
