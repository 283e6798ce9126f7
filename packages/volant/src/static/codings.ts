/** Which precompressed copy a client gets, by the weights of Accept-Encoding (RFC 9110 §12.5.3). */
import { acceptedEncoding } from '../request/accepts.ts'

/** The codings in the order of preference where a client has none, with the extensions of their files. */
export const codings = [
  { name: 'br', extension: '.br' },
  { name: 'zstd', extension: '.zst' },
  { name: 'gzip', extension: '.gz' },
] as const

export type CopyCoding = (typeof codings)[number]['name'] | 'identity'

const offers: readonly CopyCoding[] = [...codings.map(({ name }) => name), 'identity']

/** The orders by the value of the field: browsers send a few, and what is longer or new all the time is read each time. */
const known = new Map<string, readonly CopyCoding[]>()
const mostKnown = 100
const longestKnown = 128

/** Gives the codings that the client accepts, the preferred one first. */
export function codingsFor(field: string | undefined): readonly CopyCoding[] {
  if (field === undefined) return ['identity']
  const before = known.get(field)
  if (before !== undefined) return before
  const order: CopyCoding[] = []
  let left = offers
  while (left.length > 0) {
    const next = acceptedEncoding(field, left)
    if (next === false) break
    order.push(next)
    left = left.filter((each) => each !== next)
  }
  if (field.length > longestKnown) return order
  if (known.size >= mostKnown) known.clear()
  known.set(field, order)
  return order
}
