/** Says where two outcomes of a scenario differ, in a line for each place. */

/** What a server may do its own way. */
function isFree(name: string, where: string, expected: Record<string, unknown>, given: Given): boolean {
  if (name !== 'content-length' || !where.endsWith('.headers')) return false
  // A reply to HEAD may have the length that a GET would have; Express leaves it out where nothing set it.
  return given.head === true && expected[name] === undefined
}

interface Given {
  head?: unknown
}

export function differences(expected: unknown, actual: unknown, where = '', around: Given = {}): string[] {
  if (Object.is(expected, actual)) return []
  if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual))
    return [`${where}: ${shown(actual)} instead of ${shown(expected)}`]
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...names].flatMap((name) =>
    isFree(name, where, expected, around)
      ? []
      : differences(expected[name], actual[name], `${where}.${name}`, expected),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
