/** Refuses options that do not exist by their names, and says which one was probably meant. */
import { VolantError } from '../errors/errors.ts'

/** The names that other frameworks have for options, with one of our names or a sentence beside each. */
export type ForeignNames = Readonly<Record<string, string>>

/**
 * Throws `E_BAD_OPTION` for the first name in `options` that is not among `names`:
 * `createApp has no option "limit"; did you mean "limits"? It has: adapter, limits, …`.
 */
export function checkOptionNames(
  where: string,
  options: object,
  names: readonly string[],
  foreign: ForeignNames = {},
): void {
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw new VolantError('E_BAD_OPTION', noOption(where, name, names, foreign))
  }
}

/** Gives the sentence alone, for errors with other codes. */
export function noOption(
  where: string,
  name: string,
  names: readonly string[],
  foreign: ForeignNames = {},
): string {
  const known = Object.hasOwn(foreign, name) ? (foreign[name] as string) : nearest(name, names)
  const hint = known === null ? '.' : names.includes(known) ? `; did you mean "${known}"?` : `: ${known}.`
  return `${where} has no option ${JSON.stringify(name.slice(0, longest))}${hint} It has: ${names.join(', ')}`
}

/** A message shows this many characters of a name. */
const longest = 50
/** A name that needs more edits than these, or than half of its letters, is not a typo. */
const mostEdits = 2

/** Gives the most similar name, or null if none is similar. */
export function nearest(name: string, names: readonly string[]): string | null {
  if (name.length > longest) return null
  let best: string | null = null
  let least = Math.min(mostEdits, Math.floor(name.length / 2)) + 1
  for (const each of names) {
    const edits = distance(name.toLowerCase(), each.toLowerCase())
    if (edits < least) {
      best = each
      least = edits
    }
  }
  return best
}

/** Counts the letters to add, drop or change (Levenshtein). */
function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let row = 1; row <= a.length; row++) {
    const line = [row]
    for (let at = 1; at <= b.length; at++) {
      const change = (above[at - 1] as number) + (a[row - 1] === b[at - 1] ? 0 : 1)
      line.push(Math.min(change, (above[at] as number) + 1, (line[at - 1] as number) + 1))
    }
    above = line
  }
  return above[b.length] as number
}
