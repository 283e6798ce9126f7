/** The end of the chain of a WebSocket's route: the handshake is checked, `upgrade` is asked, and 101 is sent. */
import { ContentType } from '@volant/engine'
import { isNothing } from '../dispatch/chain.ts'
import { refusal } from '../errors/errors.ts'
import { send } from '../reply/send.ts'
import { Acceptance } from '../reply/source.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import { checkAddress } from './addresses.ts'
import { checkHandshake, chooseProtocol } from './handshake.ts'
import { type SocketHooks, SocketKind } from './kind.ts'
import { LiveEvents, LiveSocket } from './live-socket.ts'
import { MessageReader, type MessageWriter } from './messages.ts'
import { checkOrigin, type Origins } from './origin.ts'
import type { Schema } from '../types/parts.ts'

/** What `app.ws` was told about the upgrade. */
export interface UpgradeSettings {
  readonly origins: Origins
  readonly protocols: readonly string[]
  readonly in: Schema | null
  readonly writer: MessageWriter
  readonly upgrade: ((ctx: RequestContext) => unknown) | undefined
  readonly hooks: SocketHooks
}

/** Makes the handler of a route; `where` names it in errors. */
export function upgradeHandler(where: string, settings: UpgradeSettings): (ctx: RequestContext) => unknown {
  const { origins, protocols, writer, upgrade, hooks } = settings
  let known: SocketKind | null = null
  const kindOf = ({ app, route }: RequestContext): SocketKind => {
    // A route that is mounted in two apps is compiled in both.
    if (known?.app === app && known.route === route) return known
    const reader =
      settings.in === null ? null : new MessageReader(where, settings.in, route.limits.maxJsonDepth)
    known = new SocketKind(app, route, { hooks, reader, writer })
    return known
  }
  return (ctx) => {
    const { exchange } = ctx
    checkHandshake(exchange)
    checkOrigin(ctx, origins)
    checkAddress(ctx)
    if (exchange.accept === undefined) throw refusal('E_SOCKETS_MISSING')
    const kind = kindOf(ctx)
    const protocol = chooseProtocol(exchange, protocols)
    if (upgrade === undefined) return accept(ctx, kind, protocol, undefined)
    const value = upgrade(ctx)
    return isThenable(value)
      ? value.then((data: unknown) => decide(ctx, kind, protocol, data))
      : decide(ctx, kind, protocol, value)
  }
}

/** Refuses where `upgrade` gave a reply, and accepts with any other value. */
function decide(ctx: RequestContext, kind: SocketKind, protocol: string, value: unknown): unknown {
  if (ctx.replied || (ctx.rare?.ownReplies ?? 0) > 0) return undefined
  if (value instanceof Response || value instanceof Error) return value
  return accept(ctx, kind, protocol, isNothing(ctx, value) ? undefined : value)
}

function accept(ctx: RequestContext, kind: SocketKind, protocol: string, data: unknown): undefined {
  // The client has gone, or the time of the handler was over and it has another reply.
  if (ctx.exchange.aborted) return
  checkRoom(ctx)
  ctx.statusCode = 101
  send(ctx, ContentType.custom, new Acceptance(checkRoom, open(kind, protocol, data)), undefined, 'upgrade')
}

/** Throws where others have come meanwhile, and where the app has begun to close. */
function checkRoom(ctx: RequestContext): void {
  checkAddress(ctx)
  if (ctx.app.serving.closing) throw refusal('E_SERVER_CLOSING')
}

/** Gives what makes the WebSocket as the reply leaves. */
function open(kind: SocketKind, protocol: string, data: unknown): (ctx: RequestContext) => void {
  return (ctx) => {
    const fields =
      protocol === '' ? ctx.replyHeaders : [...(ctx.replyHeaders ?? []), 'sec-websocket-protocol', protocol]
    const socket = new LiveSocket(kind, ctx.ip, protocol, data, ctx.rare?.id)
    const accepted = ctx.exchange.accept?.(fields, new LiveEvents(kind, socket)) ?? null
    if (accepted !== null) socket.begin(accepted)
  }
}
