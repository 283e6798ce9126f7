/** Gives the JSON form of a value: JSON Schema validates what is sent, not what is returned (ECMA-262 §25.5.2.2). */
import { valueFault } from '../../errors/json-fault.ts'

/** JSON.stringify would throw for the value, too. */
export class Unwritable extends TypeError {}

/**
 * Gives what JSON.parse would make of the text of `value`: `toJSON` has run, NaN is null, and members that JSON leaves
 * out are left out. Returns the value itself if that is the same, else a copy of the parts that differ. A Map, a
 * promise and their like stay, for `valueFault` to report. Throws `Unwritable` for a BigInt and for a cycle, a
 * RangeError for a value that is nested too deeply.
 */
export function jsonForm(value: unknown): unknown {
  return valueAt(value, '', 0, null)
}

/** True if `value` contains a `toJSON`, or may: nothing is known of what is nested deeply. */
export function hasToJSON(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depth > shallow || typeof (value as { toJSON?: unknown }).toJSON === 'function') return true
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object' && hasToJSON(item, depth + 1)) return true
    return false
  }
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (typeof member === 'object' && hasToJSON(member, depth + 1)) return true
  }
  return false
}

/** Cycles are looked for below this level. */
const shallow = 64

function valueAt(given: unknown, key: string | number, depth: number, outer: Set<object> | null): unknown {
  if (typeof given === 'number') return Number.isFinite(given) ? given : null
  if (given === null || (typeof given !== 'object' && typeof given !== 'bigint')) return given
  const { toJSON } = given as { toJSON?: unknown }
  if (typeof toJSON === 'function') {
    const made: unknown = toJSON.call(given, String(key))
    return typeof made === 'object' && made !== null ? objectAt(made, depth, outer) : primitive(made)
  }
  return typeof given === 'object' ? objectAt(given, depth, outer) : primitive(given)
}

function primitive(value: unknown): unknown {
  if (typeof value === 'bigint') throw new Unwritable('Do not know how to serialize a BigInt')
  return typeof value === 'number' && !Number.isFinite(value) ? null : value
}

function objectAt(value: object, depth: number, outer: Set<object> | null): unknown {
  const above = depth < shallow ? null : (outer ?? new Set<object>())
  if (above?.has(value)) throw new Unwritable('Converting circular structure to JSON')
  above?.add(value)
  const result = Array.isArray(value) ? list(value, depth, above) : members(value, depth, above)
  above?.delete(value)
  return result
}

function list(value: readonly unknown[], depth: number, above: Set<object> | null): readonly unknown[] {
  let copy: unknown[] | null = isItself(value) ? null : [...value]
  for (let at = 0; at < value.length; at++) {
    const item = value[at]
    const made = valueAt(item, at, depth + 1, above)
    const kept = isWritten(made) ? made : null
    if (kept === item) continue
    copy ??= [...value]
    copy[at] = kept
  }
  return copy ?? value
}

function members(value: object, depth: number, above: Set<object> | null): unknown {
  const plain = isItself(value)
  if (!plain) {
    if (value instanceof Number) return primitive(Number(value))
    if (value instanceof String) return String(value)
    if (value instanceof Boolean) return value.valueOf()
    if (depth === 0 && valueFault(value) !== null) return value
  }
  const names = Object.keys(value)
  let copy: Record<string, unknown> | null = plain ? null : {}
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    const member = (value as Record<string, unknown>)[name]
    const made = valueAt(member, name, depth + 1, above)
    const is = isWritten(made)
    if (copy === null && (made !== member || !is)) {
      copy = {}
      for (const before of names.slice(0, at))
        setOwn(copy, before, (value as Record<string, unknown>)[before])
    }
    if (copy !== null && is) setOwn(copy, name, made)
  }
  return copy ?? value
}

/** True for plain objects and arrays. Getters of a class are not sent, but a validator would see them. */
function isItself(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}

/** Does `copy[name] = value`, also for an own property `__proto__`, which a form may have. */
export function setOwn(copy: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') copy[name] = value
  else Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true })
}

/** False for values that JSON leaves out of an object. */
export function isWritten(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol'
}
