/** Reads and writes JSON Pointers (RFC 6901), as text and as fragments of a URI (§6). */

/** Gives one key as it stands in a pointer (§3). */
export function escapeKey(key: string): string {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key
}

/** Gives the keys of a pointer: `/a~1b/0` has `a/b` and `0`, the empty pointer has none. */
export function keysOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeKey)
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** Gives the value that the keys lead to from `root`, through own properties alone; undefined if there is none. */
export function valueAt(root: unknown, keys: readonly string[]): unknown {
  let value = root
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/** Gives a fragment without its percent-encoding; the text itself where that is malformed. */
export function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

/** Gives a pointer as a fragment. Characters that RFC 3986 §3.5 allows stay, since tools look for `#/$defs/`. */
export function encodeFragment(pointer: string): string {
  return `#${encodeURI(pointer.slice(1)).replaceAll('#', '%23')}`
}

/** Gives the fragment for the path of an issue of Standard Schema, whose keys may be objects that hold the key. */
export function fragmentOf(path: readonly unknown[]): string {
  let fragment = '#'
  for (const segment of path) {
    const key = keyOf(segment)
    // Keys of a body may hold lone surrogates, which encodeURIComponent refuses: Buffer replaces them.
    fragment += `/${encodeURIComponent(Buffer.from(escapeKey(key)).toString())}`
  }
  return fragment
}

/** Gives the key in one segment of such a path. */
export function keyOf(segment: unknown): string {
  return String(typeof segment === 'object' ? (segment as { key: unknown } | null)?.key : segment)
}
