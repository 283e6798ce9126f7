/** What layers bring beside their function, as their metadata says, for the whole of a route. */
import type { ResponseListener } from '../types/declaration.ts'
import type { CompiledRoute, Enclosure, Layer } from '../types/request.ts'
import type { Encoder, SendHook } from '../types/send-hook.ts'
import { metadataOf } from './declare.ts'
import { oneEncoder } from './encoders.ts'
import type { ScopeLayers } from './route-definition.ts'

export function watching(
  nodes: readonly ScopeLayers[],
  layers: readonly Layer[],
  handlerTimeout: number,
): Pick<CompiledRoute, 'plain' | 'watched' | 'listeners' | 'enclosure' | 'handlerTimeout'> {
  const listeners: ResponseListener[] = []
  for (const node of nodes) listeners.push(...node.listeners)
  for (const layer of layers) {
    const { onResponse } = metadataOf(layer)
    if (onResponse !== undefined) listeners.push(onResponse)
  }
  const isWatched = layers.some((layer) => metadataOf(layer).isWatched === true)
  const watched = listeners.length > 0 || handlerTimeout > 0 || isWatched
  const enclosure = enclosureOf(layers)
  return { listeners, enclosure, handlerTimeout, watched, plain: !watched && enclosure === null }
}

/** Puts the enclosures of all layers into each other, the first one outermost. */
function enclosureOf(layers: readonly Layer[]): Enclosure | null {
  return layers
    .flatMap((layer) => metadataOf(layer).enclosure ?? [])
    .reduceRight<Enclosure | null>(
      (inner, outer) => (inner === null ? outer : (ctx, run) => outer(ctx, (each) => inner(each, run))),
      null,
    )
}

/** Gives the hooks from the inside out, as the way back through middleware is, and the encoder's behind them. */
export function sendHooksOf(
  layers: readonly Layer[],
): Pick<CompiledRoute, 'sendHooks' | 'concerns' | 'encoder'> {
  const senders = layers.map(metadataOf).filter(({ onSend }) => onSend !== undefined)
  const hooks = senders.map(({ onSend }) => onSend as SendHook).toReversed()
  const looks = senders.map(({ sendConcerns }) => sendConcerns)
  const encoder = oneEncoder(layers.flatMap((layer) => metadataOf(layer).encoder ?? []))
  if (encoder !== null) {
    hooks.push((ctx, reply) => encoder.encode(ctx, reply))
    looks.push((ctx, content, status) => encoder.concerns(ctx, content, status))
  }
  return { sendHooks: hooks.length === 0 ? null : hooks, concerns: anyOf(looks), encoder }
}

/** Joins the quick looks of hooks; null where one of them has none. */
function anyOf(looks: readonly (Encoder['concerns'] | undefined)[]): Encoder['concerns'] | null {
  if (looks.length === 0 || looks.some((look) => look === undefined)) return null
  const all = looks as readonly Encoder['concerns'][]
  if (all.length === 1) return all[0] as Encoder['concerns']
  return (ctx, content, status) => all.some((look) => look(ctx, content, status))
}

export function exposedBy(layers: readonly Layer[]): string {
  return [...new Set(layers.flatMap((layer) => metadataOf(layer).exposes ?? []))].join(', ')
}
