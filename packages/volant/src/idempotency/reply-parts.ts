/** The parts of a reply that are kept, and how they become a reply again. */
import { ContentType, unpackHeaders } from '@volant/engine'
import { removeHeaders } from '../reply/header.ts'
import { send } from '../reply/send.ts'
import type { RequestContext } from '../types/request.ts'
import type { OutgoingReply } from '../types/send-hook.ts'
import type { KeptReply } from './records.ts'

/** This field says that a reply is a repetition. */
export const replayedField = 'Idempotent-Replayed'

/** These are never kept: cookies belong to the browser that signed in, and this field to repetitions. */
const unkept: ReadonlySet<string> = new Set(['set-cookie', replayedField.toLowerCase()])

/** Gives the fields that a reply has so far: name, value, name, value, …. */
export function fieldsOf({ replyHeaders }: RequestContext): string[] {
  return replyHeaders === null ? [] : [...unpackHeaders(replyHeaders)]
}

/**
 * Gives the fields that were added since `before`. What stands there was set by middleware in front, such as the id of the
 * request, which a repetition has of its own.
 */
export function addedFields(ctx: RequestContext, before: readonly string[]): string[] {
  const known = new Map<string, number>()
  for (let at = 0; at < before.length; at += 2) {
    const field = fieldText(before, at)
    known.set(field, (known.get(field) ?? 0) + 1)
  }
  const all = fieldsOf(ctx)
  const added: string[] = []
  for (let at = 0; at < all.length; at += 2) {
    const field = fieldText(all, at)
    const left = known.get(field) ?? 0
    if (left > 0) known.set(field, left - 1)
    else if (!unkept.has((all[at] as string).toLowerCase()))
      added.push(all[at] as string, all[at + 1] as string)
  }
  return added
}

function fieldText(list: readonly string[], at: number): string {
  return `${(list[at] as string).toLowerCase()}: ${list[at + 1]}`
}

/** Replies with what was kept. Send hooks run as for every reply; `restore` undoes what inner ones changed. */
export function replay(ctx: RequestContext, reply: KeptReply): void {
  placeFields(ctx, reply.headers)
  send(ctx, ContentType.custom, reply.body, reply.status, 'reply')
}

/** Makes the reply what was kept, whatever the send hooks of inner scopes made of it: they had changed it before. */
export function restore(
  ctx: RequestContext,
  outgoing: OutgoingReply,
  reply: KeptReply,
  before: readonly string[],
): void {
  outgoing.status = reply.status
  outgoing.body = reply.body
  ctx.replyHeaders = [...before]
  ctx.hasType = false
  placeFields(ctx, reply.headers)
}

function placeFields(ctx: RequestContext, headers: readonly string[]): void {
  const names = new Set<string>()
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    const lower = name.toLowerCase()
    // Several fields of one name were appended.
    if (names.has(lower)) ctx.append(name, headers[at + 1] as string)
    else ctx.header(name, headers[at + 1] as string)
    names.add(lower)
  }
  const list = (ctx.replyHeaders ??= [])
  removeHeaders(list, (each) => each === replayedField.toLowerCase())
  list.push(replayedField, 'true')
}
