/** The field `traceparent` of W3C Trace Context, levels 1 and 2: https://www.w3.org/TR/trace-context-2/ */
import { randomFillSync } from 'node:crypto'
import type { TraceIds } from '../types/request.ts'

/** What is known of the flags: 1 "sampled", and since level 2 also 2 "random-trace-id". */
const knownFlags = 0b11
export const sampledFlag = 0b01
/** The ids made here are random, as this flag says. */
export const randomFlag = 0b10

/** Versions above 00 may have more behind the flags; ff is none, and zeros are no ids (§3.2.2). */
const form = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** Reads the field; null where it is not valid. `spanId` is the caller's. */
export function readTraceparent(field: string): TraceIds | null {
  const match = form.exec(field)
  if (match === null) return null
  const [, version, traceId, spanId, flags, more] = match as unknown as string[]
  if (version === '00' && more !== undefined) return null
  return {
    traceId: traceId as string,
    spanId: spanId as string,
    traceFlags: Number.parseInt(flags as string, 16) & knownFlags,
  }
}

/** Writes the field, as version 00. */
export function writeTraceparent({ traceId, spanId, traceFlags }: TraceIds): string {
  return `00-${traceId}-${spanId}-0${traceFlags & knownFlags}`
}

const pool = Buffer.alloc(4_096)
let used = pool.length

/** Makes an id of so many random bytes, in hexadecimal. */
export function randomId(bytes: 8 | 16): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const id = pool.toString('hex', used, (used += bytes))
  return /[^0]/.test(id) ? id : randomId(bytes)
}
