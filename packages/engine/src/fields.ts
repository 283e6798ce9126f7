/** How header fields become an object: the same on every adapter. */

/**
 * Creates objects for keys that come from a request: no inherited properties, so `__proto__` or `constructor` are
 * keys like any other. A constructor keeps V8's fast properties, which `Object.create(null)` gives up.
 */
export const Bag = function () {} as unknown as { new (): Record<string, unknown> }
Bag.prototype = Object.create(null)

/** Of these the first stands, as node:http has it; a second one is dropped. */
const single: ReadonlySet<string> = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
)

/** A repeated field's value (RFC 9110 §5.3; RFC 6265 §5.4 for cookies): `before` is what earlier ones gave. */
export function combine(name: string, before: string, value: string): string {
  if (single.has(name)) return before
  return before + (name === 'cookie' ? '; ' : ', ') + value
}
