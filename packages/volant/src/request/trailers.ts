/** Trailer fields: which of them a message may have, and the forms in which they are passed on (RFC 9110 §6.5). */
import { bag } from '@volant/engine'
import type { RequestContext } from '../types/request.ts'

/**
 * The fields that may not be trailers, because the recipient has acted without them by then: those of framing, routing,
 * authentication and the content, and those that modify a request, control a reply or concern the connection (RFC 9110
 * §6.5.1).
 */
const forbidden: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'expect',
  'expires',
  'host',
  'http2-settings',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'keep-alive',
  'location',
  'max-forwards',
  'pragma',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'range',
  'retry-after',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'vary',
  'warning',
  'www-authenticate',
])

/** Returns true when a field may be a trailer. The name must be in lower case. */
export function isTrailer(lower: string): boolean {
  return !forbidden.has(lower)
}

/** Gives the fields that may be trailers, or undefined if there are none. */
export function receivedTrailers(raw: readonly string[]): string[] | undefined {
  const kept = raw.filter((_, at) => isTrailer((raw[at & ~1] as string).toLowerCase()))
  return kept.length === 0 ? undefined : kept
}

/** Stores the trailer fields of a finished body for `ctx.trailers`. */
export function keepTrailers(ctx: RequestContext, list: string[] | undefined): void {
  if (list !== undefined) ctx.more.trailers = list
}

/** Gives the fields by lower-case name. The values of repeated fields are joined. */
export function namedTrailers(list: readonly string[]): Record<string, string> {
  const named = bag() as Record<string, string>
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] as string).toLowerCase()
    const value = list[at + 1] as string
    named[name] = named[name] === undefined ? value : `${named[name]}, ${value}`
  }
  return named
}

/** Gives all values of each field by its lower-case name. */
export function valuesByName(list: readonly string[]): Record<string, string[]> {
  const values = bag() as Record<string, string[]>
  for (let at = 0; at < list.length; at += 2) {
    ;(values[(list[at] as string).toLowerCase()] ??= []).push(list[at + 1] as string)
  }
  return values
}
