// What all servers of `lab sse` send: an event each 100 ms, and who gets it.
export const interval = 100

/** The data of an event. */
export const quote = (id) => ({ id, symbol: 'ACME', price: 100 + (id % 100) / 100, volume: 1_000 + id })

const listeners = new Set()
let last = 0

setInterval(() => {
  last++
  for (const listener of listeners) listener(last)
}, interval)

/** Calls `listener` with the number of each event, the same for all; gives the function that ends it. */
export function subscribe(listener) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
