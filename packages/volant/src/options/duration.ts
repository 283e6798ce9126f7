/** Reads the texts that options take for times: `'30 seconds'`, `'1 minute'`, `'2 hours'`, `'1 day'`. */

const units: Readonly<Record<string, number>> = {
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
}

/** Gives the milliseconds of such a text, or null for any other value. */
export function millisecondsOf(value: unknown): number | null {
  const [, count, unit = ''] = /^(\d+) ?([a-z]+)$/i.exec(typeof value === 'string' ? value : '') ?? []
  const lower = unit.toLowerCase()
  const factor = units[lower] ?? units[lower.replace(/s$/, '')]
  return count === undefined || factor === undefined ? null : Number(count) * factor
}
