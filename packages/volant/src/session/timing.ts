/** How often the time of a session is extended. */

const mostOften = 60_000

/** Gives the milliseconds after which a session that is used gets its whole idle time again. */
export function touchInterval(idle: number): number {
  return Math.min(mostOften, idle / 2)
}
