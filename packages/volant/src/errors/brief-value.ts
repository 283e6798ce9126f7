/** How a value that makes no sense is shown in a message: by itself where that is short, else by its kind. */
export function briefValue(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > longest ? `${value.slice(0, longest)}…` : value)
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value !== 'object' || value === null) return String(value)
  return Array.isArray(value) ? 'an array' : 'an object'
}

/** Characters of a text that are shown. */
const longest = 100
