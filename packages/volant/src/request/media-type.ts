/** Parses Content-Type once and strictly (RFC 9110 §8.3.1): what does not match the grammar is not read at all. */
// content-type decides 16 of the 26 rows of test/media-type-rows.ts otherwise (`node lab/library-differences.mjs`).
import { parametersOf, token } from './parameters.ts'

export interface MediaType {
  /** The type, `type/subtype` in lower case. */
  readonly essence: string
  /** The charset parameter in lower case, or undefined. */
  readonly charset: string | undefined
}

const essence = new RegExp(`^${token}/${token}`)

/** Clients repeat a handful of values. Their number is bounded, since they come from the network. */
const parsed = new Map<string, MediaType | null>()
const parsedLimit = 100

/** Gives the parsed header value, or null if it is not a media type. */
export function parseMediaType(value: string): MediaType | null {
  const seen = parsed.get(value)
  if (seen !== undefined) return seen
  const result = parse(value)
  if (parsed.size < parsedLimit && value.length < 100) parsed.set(value, result)
  return result
}

function parse(value: string): MediaType | null {
  const name = essence.exec(value)?.[0]
  if (name === undefined) return null
  const charsets = parametersOf(value, name.length)?.filter(([key]) => key === 'charset')
  // Two charsets are two opinions on how to read the body.
  if (charsets === undefined || charsets.length > 1) return null
  return { essence: name.toLowerCase(), charset: charsets[0]?.[1].toLowerCase() }
}
