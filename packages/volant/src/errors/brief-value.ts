/** Gives a value as messages show it: itself if it is short, else its kind. */
export function briefValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  return 'an object'
}

/** The most characters of a text that are shown. */
const longest = 100
