/** Finds out why JSON.stringify failed or lost data. It runs only after that has happened. */

/** Names what JSON cannot carry in `value`, and its position; null if there is nothing of that kind. */
export function jsonFault(value: unknown): string | null {
  try {
    return walk(value, '', '', [])
  } catch (error) {
    return error instanceof RangeError ? 'it is nested too deeply' : null
  }
}

/** Walks in the order of JSON.stringify, so that it goes no further and does no more work. */
function walk(given: unknown, key: string, path: string, above: object[]): string | null {
  const value = written(given, key)
  if (typeof value === 'bigint') return `a BigInt${at(path)}; write it as a string or a number`
  if (typeof value !== 'object' || value === null) return null
  if (above.includes(value)) return `a cycle${at(path)}`
  above.push(value)
  for (const [name, member] of members(value)) {
    const fault = walk(member, name, path + step(name, Array.isArray(value)), above)
    if (fault !== null) return fault
  }
  above.pop()
  return null
}

/** Gives what JSON.stringify writes for a value (ECMA-262 §25.5.2.2 (2)). */
function written(value: unknown, key: string): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'bigint')) return value
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? (toJSON.call(value, key) as unknown) : value
}

function* members(value: object): Generator<[string, unknown]> {
  for (const name of Object.keys(value)) yield [name, (value as Record<string, unknown>)[name]]
}

function step(name: string, isArray: boolean): string {
  if (isArray) return `[${name}]`
  return /^[\w$]{1,50}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 50))}]`
}

function at(path: string): string {
  if (path === '') return ''
  return ` at ${path.startsWith('.') ? path.slice(1) : path}`
}

/**
 * Describes the first member of which JSON.stringify wrote `{}` instead of its content, and what to send in its place;
 * null without such a member.
 */
export function lostMember(value: object, path = ''): string | null {
  for (const [name, given] of members(value)) {
    const here = path + step(name, Array.isArray(value))
    const member = written(given, name)
    if (typeof member !== 'object' || member === null) continue
    const fault = member instanceof Error ? 'it is an Error; send its message' : valueFault(member)
    const lost = fault === null ? lostMember(member, here) : `${at(here)}: ${fault}`
    if (lost !== null) return lost
  }
  return null
}

/** Describes a value of which JSON makes nothing, or `{}`; null for an empty object. */
export function valueFault(value: unknown): string | null {
  if (value === undefined) return 'it is undefined; ctx.reply(204) replies without a body'
  if (typeof value === 'function') return 'it is a function; call it, also where it makes a middleware'
  if (typeof value !== 'object' || value === null) return `it is a ${typeof value}`
  if (value instanceof Map) return 'it is a Map; Object.fromEntries(map) makes an object of it'
  if (value instanceof Set) return 'it is a Set; Array.from(set) makes an array of it'
  if (value instanceof Promise) return 'it is a promise; await it'
  if (value instanceof Blob) return 'it is a Blob; return the Blob itself to send its bytes'
  if (value instanceof Response) return 'it is a Response; return the Response itself'
  return null
}
