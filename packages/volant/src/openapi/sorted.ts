/** Orders what a document lists by name. */

/** Compares code units: the order is the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function sortedByName<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.fromEntries([...entries].toSorted(([a], [b]) => compareText(a, b)))
}
