/** A returned Error is as if thrown, as it is in a route, and so is one that comes later: no door sends one as a value. */

/** The value as it is. Throws it where it is an Error. */
export function unlessError(value: unknown): unknown {
  if (value instanceof Error) throw value
  return value
}
