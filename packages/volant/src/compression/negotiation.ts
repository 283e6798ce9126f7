/** Chooses the coding of a reply by Accept-Encoding (RFC 9110 §12.5.3). */
import type { Coding } from './codings.ts'
import { acceptedEncoding } from '../request/accepts.ts'

/** The values that are remembered: browsers send a few, and what is longer or new all the time is read each time. */
const mostKnown = 100
const longestKnown = 128

/**
 * Gives a function from the value of Accept-Encoding to the coding to use, null for none. The highest weight counts,
 * then the order of `encodings`. A client that takes nothing that there is gets the content as it is: 406 would help
 * nobody.
 */
export function negotiator(encodings: readonly Coding[]): (header: string | undefined) => Coding | null {
  const known = new Map<string, Coding | null>()
  const offers = [...encodings, 'identity' as const]
  return (header) => {
    // Without the field any coding would do, but who does not know codings does not send it.
    if (header === undefined) return null
    let coding = known.get(header)
    if (coding !== undefined) return coding
    const found = acceptedEncoding(header, offers)
    coding = found === false || found === 'identity' ? null : found
    if (header.length <= longestKnown) {
      if (known.size >= mostKnown) known.clear()
      known.set(header, coding)
    }
    return coding
  }
}
