/** Values of sessions: only what JSON gives back as it was. */
import { VolantError } from '../errors/errors.ts'

/** A value that is nested deeper than this has a cycle, or is a mistake. */
const deepest = 100

/** Gives the JSON of a value. Throws `E_NOT_SERIALISABLE` for what would come back as something else. */
export function jsonOf(key: string, value: unknown): string {
  check(value, key, 0)
  return JSON.stringify(value)
}

function check(value: unknown, where: string, depth: number): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return
    throw refused(where, `is ${value}`, 'JSON has no such number')
  }
  if (typeof value !== 'object') {
    const remedy =
      value === undefined && depth === 0 ? 'delete(key) forgets a value' : 'JSON has no such value'
    throw refused(where, value === undefined ? 'is undefined' : `is a ${typeof value}`, remedy)
  }
  if (depth === deepest) throw refused(where, `is nested more than ${deepest} deep`, 'or contains itself')
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) check(value[at], `${where}[${at}]`, depth + 1)
    return
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if ((prototype !== Object.prototype && prototype !== null) || 'toJSON' in value) {
    const name = (value as { constructor?: { name?: unknown } }).constructor?.name
    throw refused(
      where,
      `is an object of ${typeof name === 'string' && name !== '' ? name : 'a class'}`,
      'it would come back as something else: store what it is made of, such as date.toISOString()',
    )
  }
  for (const [name, each] of Object.entries(value)) {
    if (name === '__proto__') throw refused(`${where}.__proto__`, 'is a member', 'copies of it would change')
    // JSON leaves such a member out, and reading it gives undefined as before.
    if (each !== undefined) check(each, `${where}.${name}`, depth + 1)
  }
}

function refused(where: string, is: string, why: string): VolantError {
  return new VolantError('E_NOT_SERIALISABLE', `a session holds JSON alone, and ${where} ${is}: ${why}`)
}

/** Freezes a value of JSON, so that a change which would be lost is an error where it is made. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const each of Object.values(value)) frozen(each)
  return Object.freeze(value)
}

/** Gives the JSON of values with changes applied; null deletes a key. */
export function mergedJson(
  values: Readonly<Record<string, unknown>>,
  changes: ReadonlyMap<string, string | null>,
): string {
  const members: string[] = []
  for (const key of Object.keys(values)) {
    if (!changes.has(key)) members.push(`${JSON.stringify(key)}:${JSON.stringify(values[key])}`)
  }
  for (const [key, text] of changes) if (text !== null) members.push(`${JSON.stringify(key)}:${text}`)
  return `{${members.join(',')}}`
}
