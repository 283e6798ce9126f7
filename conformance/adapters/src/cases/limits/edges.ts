/** Every limit of HTTP: one below, at, and one above. */

export const edges = (limit: number, past: number): [number, number][] => [
  [limit - 1, 200],
  [limit, 200],
  [limit + 1, past],
]
