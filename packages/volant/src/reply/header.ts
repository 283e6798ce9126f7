/** Checks reply headers: a header that passes may be written to a socket as it is (RFC 9110 §5.5, §5.6.2). */
import { packedList, packHeaders } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const forbiddenInValue = /[^\t\x20-\x7e\x80-\xff]/

/**
 * The headers that frame the message or belong to the connection (RFC 9112 §6, §9), and those that answer the handshake of
 * a WebSocket (RFC 6455 §4.2.2): the server alone writes them.
 */
export const engineHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-connection',
  'sec-websocket-accept',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The options that choose the values of such headers. */
const chosenBy: Readonly<Record<string, string>> = {
  'sec-websocket-extensions': ': app.ws(path, { compress: true }) allows compression',
  'sec-websocket-protocol': ': app.ws(path, { protocols }) chooses one that the client asks for',
}

/** The most characters of a name or value; the engine carries lengths in 16 bits. */
const longest = 65_535

/** The names that passed the check, with their lower-case form. It is bounded, since names may be made from input. */
const known = new Map<string, string>()
const knownLimit = 1_000

/** Gives the lower-case form of a valid name; throws `E_BAD_HEADER` for any other. */
export function checkHeaderName(name: string): string {
  const lower = known.get(name)
  return lower === undefined ? learn(name) : lower
}

function learn(name: string): string {
  if (typeof name !== 'string' || !token.test(name)) {
    const each = typeof name === 'object' ? ': write ctx.header(name, value) for each header' : ''
    throw new VolantError('E_BAD_HEADER', `${briefValue(name)} is not a header name${each}`)
  }
  const lower = name.toLowerCase()
  if (engineHeaders.has(lower)) {
    throw new VolantError(
      'E_BAD_HEADER',
      `the header ${name} is written by the server itself${chosenBy[lower] ?? ''}`,
    )
  }
  if (known.size < knownLimit) known.set(name, lower)
  return lower
}

/**
 * Throws `E_BAD_HEADER` unless `name` is a token that is not the engine's own, and `value` a string of
 * tab, visible ASCII, space and 0x80–0xFF (sent as Latin-1).
 */
export function checkHeader(name: string, value: string): void {
  checkHeaderName(name)
  checkHeaderValue(name, value)
}

/** Gives the value as a string; numbers are taken too. */
export function checkHeaderValue(name: string, value: string | number): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || forbiddenInValue.test(text)) throw badValue(name, text)
  if (text.length > longest || name.length > longest) {
    throw new VolantError(
      'E_BAD_HEADER',
      `the header ${name.slice(0, 50)} is longer than ${longest} characters`,
    )
  }
  return text
}

function badValue(name: string, value: unknown): VolantError {
  if (typeof value !== 'string') {
    return new VolantError(
      'E_BAD_HEADER',
      `the value of header ${name} is ${briefValue(value)}: it takes a string or a number`,
    )
  }
  const found = [...value].find((each) => forbiddenInValue.test(each)) as string
  const code = (found.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')
  return new VolantError(
    'E_BAD_HEADER',
    `the value of header ${name} has the character ${JSON.stringify(found)} (U+${code}), which cannot be sent: write it with encodeURIComponent(…)`,
  )
}

/** Headers that were checked once, for all replies that have them. */
export interface HeaderBlock {
  /** The entries for a header list: names and values in turn, or all of them packed. */
  readonly entries: readonly string[]
  /** The names in lower case. */
  readonly names: ReadonlySet<string>
}

/** The length from which a block is written at once; below it, header by header costs less. */
const worthPacking = 128
/** The headers that error replies drop or add to by name. They are never packed. */
const unpackable =
  /^(?:vary|set-cookie|content-(?!security-policy).*|etag|last-modified|cache-control|expires|accept-ranges)$/

/** Checks the pairs and makes a block of them. Throws `E_BAD_HEADER`. */
export function headerBlock(pairs: readonly (readonly [name: string, value: string])[]): HeaderBlock {
  const list = pairs.flatMap(([name, value]) => [checkHeaderName(name), checkHeaderValue(name, value)])
  const names = new Set(list.filter((_, at) => at % 2 === 0))
  const packs = list.join('').length >= worthPacking && ![...names].some((name) => unpackable.test(name))
  const block: HeaderBlock = { entries: packs ? ['', packHeaders(list)] : list, names }
  if (packs) packed.set(block.entries[1] as string, block)
  return block
}

/** The blocks by their packed value. */
const packed = new Map<string, HeaderBlock>()
/** The beginnings of packed values that vary behind them, each with the names in the value. */
const beginnings: [start: string, names: readonly string[]][] = []

/** Tells the lower-case names in each packed value that begins with `start`: reading them would cost 240 ns a reply. */
export function namePacked(start: string, names: readonly string[]): void {
  if (!beginnings.some(([known]) => known === start)) beginnings.push([start, names])
}

/** Gives the value of a header that is never packed, such as content-type, by its lower-case name. */
export function plainHeader(list: readonly string[] | null, lower: string): string | undefined {
  if (list === null) return undefined
  for (let at = list.length - 2; at >= 0; at -= 2) {
    if ((list[at] as string).toLowerCase() === lower) return list[at + 1]
  }
  return undefined
}

/** Removes the headers with one of these lower-case names from a list; packed blocks that have one are unpacked. */
export function removeHeaders(list: string[], has: (lower: string) => boolean): void {
  for (let at = list.length - 2; at >= 0; at -= 2) {
    const name = list[at] as string
    if (name !== '') {
      if (has(checkHeaderName(name))) list.splice(at, 2)
      continue
    }
    const value = list[at + 1] as string
    let hit = false
    for (const lower of namesIn(value)) hit ||= has(lower)
    if (!hit) continue
    const kept = packedList(value).filter((_, index, all) => !has(all[index & ~1] as string))
    list.splice(at, 2, ...kept)
  }
}

/** Gives the names in a packed value; they are in lower case. */
function namesIn(value: string): Iterable<string> {
  const block = packed.get(value)
  if (block !== undefined) return block.names
  // `startsWith` compares character by character, which costs 120 ns more.
  for (const [start, names] of beginnings) if (value.slice(0, start.length) === start) return names
  return packedList(value).filter((_, at) => at % 2 === 0)
}

/** Gives the members of two values of Vary (RFC 9110 §12.5.5), each once; `*` replaces all. */
export function mergeVary(before: string, more: string): string {
  if (before === more) return before
  const members = new Map<string, string>()
  for (const part of `${before},${more}`.split(',')) {
    const name = part.trim()
    if (name !== '' && !members.has(name.toLowerCase())) members.set(name.toLowerCase(), name)
  }
  return members.has('*') ? '*' : [...members.values()].join(', ')
}
