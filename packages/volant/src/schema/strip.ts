/** Properties of a value that its JSON Schema does not declare: dropped in production, named in development. */
import { type Place, placeOf } from './schema-node.ts'
import type { JSONSchemaObject } from './document.ts'
import { escapeKey } from './json-pointer.ts'
import { Unwritable } from './to-json.ts'

/**
 * `value` without the properties that `schema` does not declare, and with the others in its order (those that it does not
 * name come last, as they came); itself if it is so already, else a copy of what had to change. What a `toJSON` makes is
 * held to the schema like all else.
 *
 * A schema that describes no properties (`{}`, `{ type: 'object' }`) lets all through; so does `additionalProperties`
 * that is true or a schema. In a union, a property is declared if a branch that the value fits declares it. An own
 * property `__proto__` is never declared. Throws a TypeError, as JSON.stringify does, where a cycle of
 * the value is one of the schema too.
 */
export function strip(value: unknown, schema: JSONSchemaObject): unknown {
  return stripAt(value, placeOf(schema), '')
}

/** `strip` for the value of a property or item named `key`. */
export function stripAt(value: unknown, place: Place, key: string): unknown {
  return stripped(value, place, key, [])
}

/** Places that `undeclared` names. */
const most = 10

/** Properties that `strip` would drop. */
export interface Undeclared {
  /** JSON Pointers (RFC 6901), ten at most; of those that items of one array have in common the first. */
  readonly pointers: readonly string[]
  /** How many places there are beside them, each item's own. */
  readonly more: number
}

/**
 * The properties that `strip` would drop, null if there are none. What JSON leaves out anyway, such as a property that is
 * undefined or a function, is none. Nothing after a cycle is named: JSON.stringify names that.
 */
export function undeclared(value: unknown, schema: JSONSchemaObject): Undeclared | null {
  // By the place with no positions in it. Most values have none.
  let found: Map<string, string> | null = null
  let more = 0
  try {
    visit(value, placeOf(schema), '', '', [], (pointer) => {
      found ??= new Map()
      const kind = pointer.replaceAll(/\/\d+(?=\/)/g, '/*')
      if (found.has(kind)) return
      if (found.size < most) found.set(kind, pointer)
      else more++
    })
  } catch (error) {
    if (!(error instanceof Unwritable) && found === null) throw error
  }
  const all = [...((found as Map<string, string> | null)?.values() ?? [])]
  return all.length === 0 ? null : { pointers: all, more }
}

function stripped(given: unknown, at: Place, key: string, above: Above): unknown {
  if (at.idle || typeof given !== 'object' || given === null) return given
  const value = made(given, key)
  if (typeof value !== 'object' || value === null) return value
  const place = at.decide(value)
  enter(value, place, above)
  const kept = Array.isArray(value) ? strippedItems(value, place, above) : strippedObject(value, place, above)
  leave(above)
  return value === given ? kept : withoutToJSON(kept)
}

/** JSON.stringify calls no `toJSON` of what a `toJSON` made; from here it would. */
function withoutToJSON(made: object): object {
  if (typeof (made as { toJSON?: unknown }).toJSON !== 'function') return made
  return Array.isArray(made) ? [...(made as unknown[])] : { ...made, toJSON: undefined }
}

function strippedItems(value: readonly unknown[], place: Place, above: Above): readonly unknown[] {
  if (place.opensArray) return value
  let copy: unknown[] | null = null
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    const kept = stripped(item, place.item(at), String(at), above)
    if (kept === item) continue
    copy ??= [...value]
    copy[at] = kept
  }
  return copy ?? value
}

function strippedObject(value: object, place: Place, above: Above): object {
  if (place.opensObject) return value
  const members = value as Record<string, unknown>
  const names = Object.keys(members)
  let copy: Record<string, unknown> | null = null
  let isOrdered = true
  let last = 0
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    const of = place.propertyAt(at, name)
    const member = of === null ? undefined : members[name]
    const kept = of === null ? undefined : stripped(member, of, name, above)
    if (copy === null && (of === null || kept !== member)) {
      copy = {}
      for (const before of names.slice(0, at)) copy[before] = members[before]
    }
    if (of === null) continue
    if (copy !== null) copy[name] = kept
    const position = place.names[at] === name ? at : place.positionOf(name)
    if (position < last) isOrdered = false
    last = position
  }
  return isOrdered ? (copy ?? value) : ordered(copy ?? members, place)
}

function ordered(members: Readonly<Record<string, unknown>>, place: Place): object {
  const copy: Record<string, unknown> = {}
  const names = Object.keys(members).sort((a, b) => place.positionOf(a) - place.positionOf(b))
  for (const name of names) copy[name] = members[name]
  return copy
}

function visit(
  given: unknown,
  at: Place,
  key: string,
  path: string,
  above: Above,
  tell: (pointer: string) => void,
): void {
  if (at.idle || typeof given !== 'object' || given === null) return
  const value = made(given, key)
  if (typeof value !== 'object' || value === null) return
  const place = at.decide(value)
  if (Array.isArray(value) ? place.opensArray : place.opensObject) return
  enter(value, place, above)
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name]
    const of = typeof name === 'number' ? place.item(name) : place.property(name)
    const inner = `${path}/${escapeKey(String(name))}`
    if (of !== null) visit(member, of, String(name), inner, above, tell)
    else if (isWritten(member)) tell(inner)
  }
  leave(above)
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}

/** What JSON.stringify writes for it (ECMA-262 §25.5.2.2 (2)). */
function made(value: object, key: string): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value
}

/** What a place is in: values, each with its place. */
type Above = (object | Place)[]

/** Whoever comes to the same value at the same place again would go on for ever. */
function enter(value: object, place: Place, above: Above): void {
  for (let at = 0; at < above.length; at += 2) {
    if (above[at] === value && above[at + 1] === place)
      throw new Unwritable('Converting circular structure to JSON')
  }
  above.push(value, place)
}

function leave(above: Above): void {
  above.length -= 2
}
