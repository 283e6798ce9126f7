/** What a library cannot say in JSON Schema, part by part: marked while it converts, found and unmarked afterwards. */

import { escapeKey, keysOf, valueAt } from './json-pointer.ts'

/** A part of a schema of which its JSON Schema says nothing. */
export interface Unrepresentable {
  /** Where its values are: a JSON Pointer as URI fragment, with `*` for each item, or each property of any name. */
  readonly pointer: string
  /** As its library calls it: `transform`, `bigint`. */
  readonly kind: string
  /** No JSON fits it: a request never passes, a reply cannot be written. */
  readonly isImpossible: boolean
}

/** Keyword of the mark; what it holds is the kind, after `!` where no JSON fits. */
const mark = 'x-volant-hole'

/** Kinds that are no JSON, sent or received; and those that a library makes of JSON if it is told to. */
const never: ReadonlySet<string> = new Set(['bigint', 'map', 'set', 'symbol', 'function'])

export function unsaid<T extends object>(schema: T, kind: string, io: 'input' | 'output'): T {
  const isImpossible = never.has(kind) || (io === 'input' && kind === 'date')
  return Object.assign(schema, { [mark]: `${isImpossible ? '!' : ''}${kind}` })
}

export function unmarked(schema: object): void {
  delete (schema as Record<string, unknown>)[mark]
}

/** Any JSON is accepted here (`z.preprocess`, `z.catch`), so no part of it is a hole. */
export function anyInput(schema: object): void {
  Object.assign(schema, { [mark]: '' })
}

/** Keyword of objects that let every property through, where the conversion of their library would lose that. */
const open = 'x-volant-open'

/** Zod makes one object of the objects of an intersection, and forgets that one of them is loose. */
export function openedIntersection(schema: object): void {
  const { allOf } = schema as { allOf?: unknown }
  if (listOf(allOf).some(isLoose)) Object.assign(schema, { [open]: true })
}

function isLoose(part: unknown): boolean {
  const { additionalProperties: rest, anyOf, oneOf } = part as Keywords
  const isOpen = typeof rest === 'object' && rest !== null && Object.keys(rest).length === 0
  return isOpen || [...listOf(anyOf), ...listOf(oneOf)].some(isLoose)
}

/** Keyword of those that take text as well as what they say: `z.coerce.number()`. */
const textMark = 'x-volant-text'

export function takesText(schema: object): void {
  Object.assign(schema, { [textMark]: true })
}

/** Whether it says more than a description does. */
export function saysType(schema: object): boolean {
  return ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'oneOf', 'properties', 'type'].some(
    (each) => each in schema,
  )
}

type Keywords = Record<string, unknown>

interface Unmarked {
  readonly schema: unknown
  readonly holes: readonly Unrepresentable[]
  /** Pointers to those that take text as well as what they say. */
  readonly texts: ReadonlySet<string>
}

/** The parts that were marked, and the JSON Schema without the marks. */
export function withoutMarks(text: string): Unmarked {
  const texts = new Set<string>()
  if (!text.includes('"x-volant-')) return { schema: JSON.parse(text), holes: [], texts }
  const root: unknown = JSON.parse(text)
  const holes = new Map<string, Unrepresentable>()
  const seen = new Set<string>()
  const visit = (schema: unknown, pointer: string, isChoice = false): void => {
    if (typeof schema !== 'object' || schema === null) return
    const members = schema as Keywords
    const kind = members[mark]
    if (kind === '' || members[textMark] === true) texts.add(pointer)
    if (kind === '') return
    if (typeof kind === 'string') {
      const isImpossible = kind.startsWith('!')
      // What no JSON fits is of no concern where something else may be.
      if (!isImpossible || !isChoice)
        holes.set(pointer, { pointer, kind: kind.replace('!', ''), isImpossible })
    }
    const { $ref } = members
    if (typeof $ref === 'string' && !seen.has($ref)) {
      seen.add($ref)
      visit(valueAt(root, keysOf($ref)), pointer, isChoice)
    }
    for (const name of ['items', 'additionalProperties']) visit(members[name], `${pointer}/*`)
    for (const each of listOf(members['allOf'])) visit(each, pointer, isChoice)
    for (const name of ['anyOf', 'oneOf']) {
      const branches = listOf(members[name])
      const others = branches.filter((each) => (each as Keywords)['type'] !== 'null')
      for (const each of branches) visit(each, pointer, isChoice || others.length > 1)
    }
    for (const [at, each] of listOf(members['prefixItems']).entries()) visit(each, `${pointer}/${at}`)
    for (const [name, each] of Object.entries(members['properties'] ?? {})) {
      visit(each, `${pointer}/${escapeKey(name)}`)
    }
  }
  visit(root, '#')
  const schema: unknown = JSON.parse(text, function (this: Keywords, key, value: unknown) {
    if (key === open) this['additionalProperties'] ??= {}
    return key === mark || key === open || key === textMark ? undefined : value
  })
  return { schema, holes: [...holes.values()], texts }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
