/** Chooses the representation that a client prefers by Accept, Accept-Language, Accept-Encoding (RFC 9110 §12.5). */
// negotiator decides 14 of the 70 rows of test/accepts-rows.ts otherwise (`node lab/library-differences.mjs`).
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { parametersOf, token } from './parameters.ts'

/**
 * Gives the type that the client prefers, or false if it accepts none of them. A type is preferred for a higher weight,
 * then for a more exact range, then for an earlier range, then for its position here. A request without Accept accepts
 * everything.
 */
export function acceptedType<const T extends string>(
  header: string | undefined,
  offers: readonly T[],
): T | false {
  const offered = checked('accepts', offers).map(typeOf)
  const ranges = header === undefined ? [] : parseRanges(header)
  // Any type is acceptable without the field (RFC 9110 §12.5.1). A field without a valid element is treated the same.
  if (ranges.length === 0) return offers[0] as T
  return best(offers, ranges, (range, index) => typeMatch(range, offered[index] as MediaType))
}

/**
 * Works like `acceptedType`, for language tags (RFC 4647): `en` stands for `en-GB`, and serves a client that asked for
 * that.
 */
export function acceptedLanguage<const T extends string>(
  header: string | undefined,
  offers: readonly T[],
): T | false {
  const offered = checked('acceptsLanguages', offers).map((offer) => offer.toLowerCase())
  const ranges = header === undefined ? [] : parseRanges(header)
  if (ranges.length === 0) return offers[0] as T
  return best(offers, ranges, (range, index) => languageMatch(range, offered[index] as string))
}

/**
 * Works like `acceptedType`, for content codings; among equals the first offered is taken. `identity` is always
 * acceptable unless it is excluded, but comes after the codings that were asked for.
 */
export function acceptedEncoding<const T extends string>(
  header: string | undefined,
  offers: readonly T[],
): T | false {
  const offered = checked('acceptsEncodings', offers).map((offer) => codingOf(offer.toLowerCase()))
  if (header === undefined) return offers[0] as T
  const ranges = parseRanges(header).map((range) => ({ ...range, name: codingOf(range.name), order: 0 }))
  const found = best(offers, ranges, ({ name }, index) =>
    name === offered[index] ? 2 : name === '*' ? 1 : 0,
  )
  if (found !== false) return found
  // `identity` is acceptable unless it is excluded (RFC 9110 §12.5.3 (3)).
  const identity = offered.indexOf('identity')
  const named = ranges.some(({ name }) => name === 'identity' || name === '*')
  return identity === -1 || named ? false : (offers[identity] as T)
}

/** An element of a list with weights. */
interface Range {
  /** The name in lower case. */
  readonly name: string
  readonly parameters: readonly string[]
  readonly q: number
  readonly order: number
}

type MediaType = Pick<Range, 'name' | 'parameters'>

/** Elements after these are not read. */
const mostRanges = 100

const element = new RegExp(`^(${token}(?:/${token})?)[ \\t]*(?:;|$)`)
// Matches a weight (RFC 9110 §12.4.2).
const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/** Reads a list of ranges without its malformed elements. */
function parseRanges(header: string): Range[] {
  return elementsOf(header).flatMap((text, at) => parseRange(text, at) ?? [])
}

/** Splits at commas outside quotes. */
function elementsOf(header: string): string[] {
  const elements: string[] = []
  let quoted = false
  let start = 0
  for (let at = 0; at <= header.length && elements.length < mostRanges; at++) {
    const code = at === header.length ? 0x2c : header.charCodeAt(at)
    if (code === 0x22) quoted = !quoted
    else if (code === 0x5c && quoted) at++
    else if (code === 0x2c && (!quoted || at === header.length)) {
      const text = header.slice(start, at).trim()
      if (text !== '') elements.push(text)
      start = at + 1
    }
  }
  return elements
}

function parseRange(text: string, order: number): Range | null {
  const name = element.exec(text)?.[1]
  const all = name === undefined ? null : parametersOf(text, name.length)
  if (name === undefined || all === null) return null
  const end = all.findIndex(([key]) => key === 'q')
  const q = all[end]?.[1] ?? '1'
  if (!weight.test(q)) return null
  const own = end === -1 ? all : all.slice(0, end)
  const parameters = own.map(([key, value]) => `${key}=${value.toLowerCase()}`)
  return { name: name.toLowerCase(), parameters, q: Number(q), order }
}

/**
 * Each offer's weight is that of the range that matches it most exactly. `match` gives 0 for no match, else how exact
 * it is.
 */
function best<T extends string>(
  offers: readonly T[],
  ranges: readonly Range[],
  match: (range: Range, offer: number) => number,
): T | false {
  const rated = offers.flatMap((offer, index) => {
    const exact = ranges.map((range) => match(range, index))
    const most = Math.max(0, ...exact)
    if (most === 0) return []
    const { q, order } = ranges[exact.indexOf(most)] as Range
    return q === 0 ? [] : [{ offer, q, most, order }]
  })
  rated.sort((a, b) => b.q - a.q || b.most - a.most || a.order - b.order)
  return rated[0]?.offer ?? false
}

function typeMatch(range: Range, offer: MediaType): number {
  if (range.parameters.some((one) => !offer.parameters.includes(one))) return 0
  const more = range.parameters.length
  if (range.name === offer.name) return 3 + more
  if (range.name === '*/*') return 1
  return range.name.endsWith('/*') && offer.name.startsWith(range.name.slice(0, -1)) ? 2 : 0
}

function languageMatch({ name, q }: Range, offer: string): number {
  if (name === offer) return 4
  // Filtering comes first (RFC 4647 §3.3.1), then lookup (§3.4): who takes only British English is served English.
  if (offer.startsWith(`${name}-`)) return 3
  if (q > 0 && name.startsWith(`${offer}-`)) return 2 + offer.length / name.length / 2
  return name === '*' ? 1 : 0
}

/** The old names are the same codings (RFC 9110 §8.4.1). */
function codingOf(name: string): string {
  return name === 'x-gzip' ? 'gzip' : name === 'x-compress' ? 'compress' : name
}

function typeOf(offer: string): MediaType {
  const text = shortNames[offer.toLowerCase()] ?? offer
  const range = text.includes('/') && !text.includes('*') ? parseRange(text, 0) : null
  if (range === null) {
    const names = Object.keys(shortNames).join(', ')
    throw bad('accepts', offer, `media types such as 'text/html' and the names ${names}`)
  }
  return range
}

function checked<T>(name: string, offers: readonly T[]): readonly T[] {
  if (offers.length === 0 || offers.some((offer) => typeof offer !== 'string' || offer === '')) {
    throw new VolantError('E_BAD_OPTION', `${name} takes the names of what you can send, at least one`)
  }
  return offers
}

const shortNames: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  css: 'text/css',
  csv: 'text/csv',
  form: 'application/x-www-form-urlencoded',
  html: 'text/html',
  js: 'text/javascript',
  json: 'application/json',
  pdf: 'application/pdf',
  problem: 'application/problem+json',
  svg: 'image/svg+xml',
  text: 'text/plain',
  xml: 'application/xml',
})
