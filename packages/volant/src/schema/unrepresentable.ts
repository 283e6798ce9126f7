/**
 * Marks parts of a library's schema that JSON Schema cannot express, while the library converts its schema. The marks
 * are read and removed afterwards.
 */

import { escapeKey, keysOf, valueAt } from './json-pointer.ts'

/** A part of a schema that its JSON Schema says nothing about. */
export interface Unrepresentable {
  /** A JSON Pointer to its values, as URI fragment, with `*` for items and for properties of any name. */
  readonly pointer: string
  /** The library's name for it: `transform`, `bigint`. */
  readonly kind: string
  /** True where no JSON is valid for it: requests are refused, replies cannot be written. */
  readonly isImpossible: boolean
}

/** The keyword of the mark. Its value is the kind, after `!` if no JSON is valid. */
const mark = 'x-volant-hole'

/** The kinds for which no JSON is valid, unless the library coerces it. */
const never: ReadonlySet<string> = new Set(['bigint', 'map', 'set', 'symbol', 'function'])

export function unsaid<T extends object>(schema: T, kind: string, io: 'input' | 'output'): T {
  const isImpossible = never.has(kind) || (io === 'input' && kind === 'date')
  return Object.assign(schema, { [mark]: `${isImpossible ? '!' : ''}${kind}` })
}

export function unmarked(schema: object): void {
  delete (schema as Record<string, unknown>)[mark]
}

/** Marks a schema whose input may be any JSON (`z.preprocess`, `z.catch`): a function sees it first. */
export function anyInput(schema: object): void {
  Object.assign(schema, { [mark]: '' })
}

/** The keyword of objects that allow every property, if the conversion of their library loses that. */
const open = 'x-volant-open'

/** Zod makes one object of an intersection, and forgets that one side allows every property. */
export function openedIntersection(schema: object): void {
  const { allOf } = schema as { allOf?: unknown }
  if (listOf(allOf).some(isLoose)) Object.assign(schema, { [open]: true })
}

function isLoose(part: unknown): boolean {
  const { additionalProperties: rest, anyOf, oneOf } = part as Keywords
  const isOpen = typeof rest === 'object' && rest !== null && Object.keys(rest).length === 0
  return isOpen || [...listOf(anyOf), ...listOf(oneOf)].some(isLoose)
}

/** The keyword of schemas that accept text as well, such as `z.coerce.number()`. */
const textMark = 'x-volant-text'

export function takesText(schema: object): void {
  Object.assign(schema, { [textMark]: true })
}

/** True if the schema restricts its values. */
export function saysType(schema: object): boolean {
  return ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'oneOf', 'properties', 'type'].some(
    (each) => each in schema,
  )
}

type Keywords = Record<string, unknown>

interface Unmarked {
  readonly schema: unknown
  readonly holes: readonly Unrepresentable[]
  /** The pointers to the schemas that accept text as well. */
  readonly texts: ReadonlySet<string>
}

/** Reads the marks, and gives the JSON Schema without them. */
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
      // An alternative that is impossible does no harm beside others.
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
