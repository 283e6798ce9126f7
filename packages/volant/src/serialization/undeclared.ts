/** Properties of a value that its JSON Schema does not declare: dropped in production, named in development. */
import { type Place, placeOf } from './place.ts'
import type { JSONSchemaObject } from '../schema/json-schema.ts'

/**
 * `value` without the properties that `schema` does not declare; itself if there are none, else a copy of what had to
 * change. What a `toJSON` makes is held to the schema like all else.
 *
 * A schema that describes no properties (`{}`, `{ type: 'object' }`) lets all through; so does `additionalProperties`
 * that is true or a schema. In a union, a property is declared if a branch that the value fits declares it. An own
 * property `__proto__` is never declared. Throws a TypeError where it meets a cycle, as JSON.stringify does.
 */
export function strip(value: unknown, schema: JSONSchemaObject): unknown {
  return stripped(value, placeOf(schema), '', [])
}

/**
 * The place of the first property that `strip` would drop, as JSON Pointer (RFC 6901), or null. What JSON leaves out
 * anyway, such as a property that is undefined or a function, is none. null where it meets a cycle: JSON.stringify names it.
 */
export function undeclared(value: unknown, schema: JSONSchemaObject): string | null {
  try {
    return first(value, placeOf(schema), '', '', [])
  } catch (error) {
    if (error instanceof Cycle) return null
    throw error
  }
}

function stripped(given: unknown, at: Place, key: string, above: object[]): unknown {
  if (at.idle || typeof given !== 'object' || given === null) return given
  const value = made(given, key)
  if (typeof value !== 'object' || value === null) return value
  refuseCycle(value, above)
  const place = at.decide(value)
  above.push(value)
  const kept = Array.isArray(value) ? strippedItems(value, place, above) : strippedObject(value, place, above)
  above.pop()
  return kept
}

function strippedItems(value: readonly unknown[], place: Place, above: object[]): readonly unknown[] {
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

function strippedObject(value: object, place: Place, above: object[]): object {
  if (place.opensObject) return value
  const members = value as Record<string, unknown>
  const names = Object.keys(members)
  let copy: Record<string, unknown> | null = null
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    const of = place.property(name)
    const member = of === null ? undefined : members[name]
    const kept = of === null ? undefined : stripped(member, of, name, above)
    if (copy === null) {
      if (of !== null && kept === member) continue
      copy = {}
      for (const before of names.slice(0, at)) copy[before] = members[before]
    }
    if (of !== null) copy[name] = kept
  }
  return copy ?? value
}

function first(given: unknown, at: Place, key: string, path: string, above: object[]): string | null {
  if (at.idle || typeof given !== 'object' || given === null) return null
  const value = made(given, key)
  if (typeof value !== 'object' || value === null) return null
  refuseCycle(value, above)
  const place = at.decide(value)
  if (Array.isArray(value) ? place.opensArray : place.opensObject) return null
  above.push(value)
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name]
    const of = typeof name === 'number' ? place.item(name) : place.property(name)
    const inner = `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
    const found =
      of !== null ? first(member, of, String(name), inner, above) : isWritten(member) ? inner : null
    if (found !== null) return found
  }
  above.pop()
  return null
}

function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}

/** What JSON.stringify writes for it (ECMA-262 §25.5.2.2 (2)). */
function made(value: object, key: string): unknown {
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value
}

/** Where a value holds itself there is no end of ways through it: whoever meets that stops. */
function refuseCycle(value: object, above: readonly object[]): void {
  if (above.includes(value)) throw new Cycle('Converting circular structure to JSON')
}

class Cycle extends TypeError {}
