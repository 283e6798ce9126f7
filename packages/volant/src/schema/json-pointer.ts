/** JSON Pointers (RFC 6901), as text and as fragments of a URI (§6). */

/** One key as it stands in a pointer (§3). */
export function escapeKey(key: string): string {
  return /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key
}

/** The keys of a pointer: `/a~1b/0` has `a/b` and `0`, the empty pointer has none. */
export function keysOf(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeKey)
}

function unescapeKey(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** What the keys lead to from `root`, through own properties alone; undefined if there is no such value. */
export function valueAt(root: unknown, keys: readonly string[]): unknown {
  let value = root
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

/** A fragment without its percent-encoding; the text itself where that is malformed. */
export function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

/** A pointer as a fragment. What RFC 3986 §3.5 allows in one stays as it is, since tools look for `#/$defs/`. */
export function encodeFragment(pointer: string): string {
  return `#${encodeURI(pointer.slice(1)).replaceAll('#', '%23')}`
}

/** The fragment for the path of an issue of Standard Schema, whose keys may be objects that hold the key. */
export function fragmentOf(path: readonly unknown[]): string {
  let fragment = '#'
  for (const segment of path) {
    const key = keyOf(segment)
    // Keys of a body may hold lone surrogates, which encodeURIComponent refuses: Buffer replaces them.
    fragment += `/${encodeURIComponent(Buffer.from(escapeKey(key)).toString())}`
  }
  return fragment
}

/** The key in one segment of such a path. */
export function keyOf(segment: unknown): string {
  return String(typeof segment === 'object' ? (segment as { key: unknown } | null)?.key : segment)
}
