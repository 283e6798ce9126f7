/** The header fields that tell a client how its limits stand, and the error for one that is past them. */
import { packedList, packedText } from '@volant/engine'
import { errorTable, refusal } from '../errors/errors.ts'
import { namePacked } from '../reply/header.ts'
import type { DeclaredErrors } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import type { Plan, PolicyPlan } from './options.ts'
import type { Level } from './store.ts'

/** How the policies stand, in their order; null where that is not known. */
export type Standing = readonly (Level | null)[]

/** Adds the fields to a reply. */
export type PlaceFields = (ctx: RequestContext, levels: Standing) => void

const retryAfter = { 'Retry-After': 'The seconds after which the request may be sent again.' }

/** The fields by the option `headers`, with what they say. */
const documented = {
  draft: {
    'RateLimit-Policy': 'The limits: `q` units in `w` seconds each.',
    RateLimit: 'The units `r` that are left of each limit, and the seconds `t` until there are more.',
    ...retryAfter,
  },
  legacy: {
    'X-RateLimit-Limit': 'The units in a window.',
    'X-RateLimit-Remaining': 'The units that are left.',
    'X-RateLimit-Reset': 'The seconds until there are more.',
    ...retryAfter,
  },
  none: retryAfter,
} as const

/** Gives the names of the fields, which pages of other origins should be able to read. */
export function fieldNamesOf({ headers }: Plan): readonly string[] {
  return Object.keys(documented[headers || 'none'])
}

export function fieldsOf({ headers, policies }: Plan): PlaceFields | null {
  if (headers === false) return null
  return headers === 'legacy' ? legacyFields(policies) : draftFields(policies)
}

/** Writes draft-ietf-httpapi-ratelimit-headers-11 §3 and §4: lists of strings with parameters (RFC 9651). */
function draftFields(policies: readonly PolicyPlan[]): PlaceFields {
  const policyText = policies
    .map(({ name, max, window }) => `"${name}";q=${max};w=${Math.ceil(window / 1_000)}`)
    .join(', ')
  if (policies.length === 1) {
    const texts = new PackedLevels(policyText, policies[0] as PolicyPlan)
    return (ctx, levels) => {
      const before = ctx.replyHeaders
      const level = levels[0] as Level
      if (before === null) ctx.replyHeaders = texts.listOf(level)
      else addTo(before, policyText, levelText((policies[0] as PolicyPlan).name, level))
    }
  }
  return (ctx, levels) => {
    const text = levels
      .flatMap((level, at) => (level === null ? [] : [levelText((policies[at] as PolicyPlan).name, level)]))
      .join(', ')
    addTo((ctx.replyHeaders ??= []), policyText, text)
  }
}

function levelText(name: string, level: Level): string {
  return `"${name}";r=${level.remaining};t=${secondsOf(level)}`
}

function secondsOf({ allowed, reset, retryAfter }: Level): number {
  return Math.ceil((allowed ? reset : retryAfter) / 1_000)
}

/** Adds the fields, to those of another limit if there are any. */
function addTo(list: string[], policyText: string, text: string): void {
  const merged = ['ratelimit-policy', policyText, 'ratelimit', text]
  for (let at = list.length - 2; at >= 0; at -= 2) {
    if (list[at] !== '') continue
    const [first, policiesBefore, second, before] = packedList(list[at + 1] as string)
    if (first !== merged[0] || second !== merged[2]) continue
    merged[1] = `${policiesBefore}, ${policyText}`
    merged[3] = `${before}, ${text}`
    list.splice(at, 2)
    break
  }
  list.push('', packedText(merged))
}

/**
 * The fields of one policy, packed. A text is kept for each number of units left, as long as their last ten bits differ:
 * most requests find theirs.
 */
class PackedLevels {
  readonly #head: string
  readonly #name: string
  readonly #keys = new Float64Array(kept).fill(-1)
  readonly #seconds = new Float64Array(kept)
  readonly #texts: string[] = Array<string>(kept).fill('')
  readonly #list = ['', '']

  constructor(policyText: string, { name }: PolicyPlan) {
    this.#head = packedText(['ratelimit-policy', policyText]) + String.fromCharCode('ratelimit'.length, 0)
    namePacked(this.#head, ['ratelimit-policy', 'ratelimit'])
    this.#name = name
  }

  /** Gives the header list of a reply that has no other fields. */
  listOf(level: Level): string[] {
    // V8 may come to allocate what a literal makes among old objects, where replies of their time keep later ones alive.
    const list = this.#list.slice()
    list[1] = this.of(level)
    return list
  }

  of(level: Level): string {
    const { remaining } = level
    const seconds = secondsOf(level)
    const at = remaining & (kept - 1)
    if (this.#keys[at] === remaining && this.#seconds[at] === seconds) return this.#texts[at] as string
    const text = levelText(this.#name, level)
    // A name has at most 64 characters, so the length has one byte.
    const packed = `${this.#head}${String.fromCharCode(text.length)}\0ratelimit${text}`
    this.#keys[at] = remaining
    this.#seconds[at] = seconds
    this.#texts[at] = packed
    return packed
  }
}

/** This is a power of two. */
const kept = 1_024

/** Writes the fields that were usual before the draft, of the limit that has least left. */
function legacyFields(policies: readonly PolicyPlan[]): PlaceFields {
  return (ctx, levels) => {
    let least = 0
    for (let at = 1; at < levels.length; at++) if (leftOf(levels[at]) < leftOf(levels[least])) least = at
    const level = levels[least] as Level
    const fields = {
      'x-ratelimit-limit': (policies[least] as PolicyPlan).max,
      'x-ratelimit-remaining': level.remaining,
      'x-ratelimit-reset': secondsOf(level),
    }
    for (const [name, value] of Object.entries(fields)) ctx.place(name, name, String(value))
  }
}

function leftOf(level: Level | null | undefined): number {
  return level?.remaining ?? Infinity
}

/** The declaration of the refusal, for the API's document. */
export function refusalsOf({ headers, onStoreError, store }: Plan): DeclaredErrors {
  const limited = {
    status: 429,
    description: errorTable.E_RATE_LIMITED.meaning,
    headers: documented[headers || 'none'],
  }
  const down = { status: 503, description: errorTable.E_RATE_LIMIT_STORE.meaning }
  return {
    E_RATE_LIMITED: limited,
    ...(store !== null && onStoreError === 'deny' ? { E_RATE_LIMIT_STORE: down } : {}),
  }
}

/** Refuses a request that cannot be counted. */
export function refuseUncounted(ctx: RequestContext): never {
  ctx.place('retry-after', 'retry-after', '1')
  throw refusal('E_RATE_LIMIT_STORE', 'Requests cannot be counted now')
}

/** Refuses a request. Retry-After is that of the limit which takes longest. */
export function refuse(ctx: RequestContext, levels: Standing): never {
  let wait = 0
  for (const level of levels) if (level?.allowed === false) wait = Math.max(wait, level.retryAfter)
  const seconds = Math.max(1, Math.ceil(wait / 1_000))
  ctx.place('retry-after', 'retry-after', String(seconds))
  throw refusal('E_RATE_LIMITED', `Too many requests: the next one may come in ${seconds} s`)
}
