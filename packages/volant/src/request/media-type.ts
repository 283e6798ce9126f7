/** Content-Type, parsed once and strictly (RFC 9110 §8.3.1): what does not match the grammar is not read at all. */

export interface MediaType {
  /** `type/subtype` in lower case. */
  readonly essence: string
  /** The charset parameter in lower case, or undefined. */
  readonly charset: string | undefined
}

const essence = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+)/
const parameter =
  /[ \t]*;[ \t]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|"((?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*)"))?/y

/** Clients repeat a handful of values. Bounded: the values come from the network. */
const parsed = new Map<string, MediaType | null>()
const parsedLimit = 100

/** The parsed header value, or null if it is not a media type. */
export function parseMediaType(value: string): MediaType | null {
  const seen = parsed.get(value)
  if (seen !== undefined) return seen
  const result = parse(value)
  if (parsed.size < parsedLimit && value.length < 100) parsed.set(value, result)
  return result
}

function parse(value: string): MediaType | null {
  const name = essence.exec(value)?.[1]
  if (name === undefined) return null
  let charset: string | undefined
  parameter.lastIndex = name.length
  while (parameter.lastIndex < value.length) {
    const match = parameter.exec(value)
    if (match === null) return null
    if (match[1]?.toLowerCase() !== 'charset') continue
    // Two charsets are two opinions on how to read the body.
    if (charset !== undefined) return null
    charset = (match[2] ?? match[3]?.replace(/\\(.)/g, '$1') ?? '').toLowerCase()
  }
  return { essence: name.toLowerCase(), charset }
}
