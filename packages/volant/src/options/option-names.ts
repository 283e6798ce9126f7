/** Refuses options that do not exist by their names, and says which one was probably meant. */
import { closestMatch } from 'leven'
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
  const lower = names.map((each) => each.toLowerCase())
  const maxDistance = Math.min(mostEdits, Math.floor(name.length / 2))
  const best = closestMatch(name.toLowerCase(), lower, { maxDistance })
  return best === undefined ? null : (names[lower.indexOf(best)] as string)
}
