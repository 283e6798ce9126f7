/** Finds properties that the schema of a value does not declare: production drops them, development reports them. */
import type { JSONSchemaObject } from '../document.ts'
import { escapeKey } from '../json-pointer.ts'
import { rootNodeOf, type SchemaNode } from './schema-node.ts'
import { isWritten, Unwritable } from './to-json.ts'

/**
 * Gives `value` without the properties that `schema`, in its normal form, does not declare. Declared properties come
 * in the order of the schema, those that it allows without naming them come last. The value itself is returned if it is
 * so already, else a copy of what had to change. The result of a `toJSON` is stripped like any other value.
 *
 * A schema that describes no properties (`{}`, `{ type: 'object' }`) lets all through; so does `additionalProperties`
 * that is true or a schema. In a union, a property is declared if a branch that the value fits declares it. An own
 * property `__proto__` is never declared. Throws a TypeError, as JSON.stringify does, if the value holds itself at a node
 * of the schema that does so too.
 */
export function strip(value: unknown, schema: JSONSchemaObject): unknown {
  return stripAt(value, rootNodeOf(schema), '')
}

/** Does `strip` for the value of a property or item named `key`. */
export function stripAt(value: unknown, node: SchemaNode, key: string): unknown {
  return stripped(value, node, key, { above: [], report: null })
}

/** The most pointers that `undeclared` gives. */
const most = 10

/** The properties that `strip` would drop. */
export interface Undeclared {
  /** The JSON Pointers (RFC 6901), ten at most; where items of an array have the same property, the first item's. */
  readonly pointers: readonly string[]
  /** The number of other properties, counting the items of an array once. */
  readonly more: number
}

/**
 * Gives the properties that `strip` would drop, null if there are none. Properties that JSON leaves out anyway, such as
 * one that is undefined or a function, do not count. The search ends at a cycle, which JSON.stringify reports.
 */
export function undeclared(value: unknown, schema: JSONSchemaObject): Undeclared | null {
  /** The pointers by the same with `*` for each position. Most values have none. */
  let found: Map<string, string> | null = null
  let more = 0
  const report = (pointer: string): void => {
    found ??= new Map()
    const kind = pointer.replaceAll(/\/\d+(?=\/)/g, '/*')
    if (found.has(kind)) return
    if (found.size < most) found.set(kind, pointer)
    else more++
  }
  try {
    stripped(value, rootNodeOf(schema), '', { above: [], report })
  } catch (error) {
    if (!(error instanceof Unwritable) && found === null) throw error
  }
  const all = [...((found as Map<string, string> | null)?.values() ?? [])]
  return all.length === 0 ? null : { pointers: all, more }
}

interface Walk {
  /** The values above this one, each with its node and its key. */
  readonly above: (object | SchemaNode | string)[]
  /** The walk calls this with a pointer to each undeclared property. */
  readonly report: ((pointer: string) => void) | null
}

function stripped(given: unknown, at: SchemaNode, key: string, walk: Walk): unknown {
  if (at.keepsAll || typeof given !== 'object' || given === null) return given
  // JSON.stringify calls `toJSON` first as well (ECMA-262 §25.5.2.2 (2)).
  const { toJSON } = given as { toJSON?: unknown }
  const value: unknown = typeof toJSON === 'function' ? toJSON.call(given, key) : given
  if (typeof value !== 'object' || value === null) return value
  const node = at.decide(value)
  enter(value, node, key, walk)
  const kept = Array.isArray(value) ? strippedItems(value, node, walk) : strippedObject(value, node, walk)
  walk.above.length -= 3
  return value === given ? kept : withoutToJSON(kept)
}

/** JSON.stringify calls no `toJSON` of the result of a `toJSON`; given the result alone, it would. */
function withoutToJSON(made: object): object {
  if (typeof (made as { toJSON?: unknown }).toJSON !== 'function') return made
  return Array.isArray(made) ? [...(made as unknown[])] : { ...made, toJSON: undefined }
}

function strippedItems(value: readonly unknown[], node: SchemaNode, walk: Walk): readonly unknown[] {
  if (node.opensArray) return value
  let copy: unknown[] | null = null
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    const kept = stripped(item, node.item(at), String(at), walk)
    if (kept === item) continue
    copy ??= [...value]
    copy[at] = kept
  }
  return copy ?? value
}

function strippedObject(value: object, node: SchemaNode, walk: Walk): object {
  if (node.opensObject) return value
  const members = value as Record<string, unknown>
  const names = Object.keys(members)
  let copy: Record<string, unknown> | null = null
  let isOrdered = true
  let last = 0
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    const of = node.property(name)
    const member = of === null && walk.report === null ? undefined : members[name]
    const kept = of === null ? undefined : stripped(member, of, name, walk)
    if (copy === null && (of === null || kept !== member)) {
      copy = {}
      for (const before of names.slice(0, at)) copy[before] = members[before]
    }
    if (of === null) {
      if (walk.report !== null && isWritten(member)) walk.report(pointerTo(name, walk))
      continue
    }
    if (copy !== null) copy[name] = kept
    const position = node.names[at] === name ? at : node.positionOf(name)
    if (position < last) isOrdered = false
    last = position
  }
  return isOrdered ? (copy ?? value) : ordered(copy ?? members, node)
}

function ordered(members: Readonly<Record<string, unknown>>, node: SchemaNode): object {
  const copy: Record<string, unknown> = {}
  const names = Object.keys(members).sort((a, b) => node.positionOf(a) - node.positionOf(b))
  for (const name of names) copy[name] = members[name]
  return copy
}

/** The key of the whole value is no part of a pointer. */
function pointerTo(name: string, { above }: Walk): string {
  const keys = above.filter((_, at) => at % 3 === 2 && at > 2) as string[]
  return [...keys, name].map((key) => `/${escapeKey(key)}`).join('')
}

/** The same value at the same node again would never end. */
function enter(value: object, node: SchemaNode, key: string, { above }: Walk): void {
  for (let at = 0; at < above.length; at += 3) {
    if (above[at] === value && above[at + 1] === node)
      throw new Unwritable('Converting circular structure to JSON')
  }
  above.push(value, node, key)
}
