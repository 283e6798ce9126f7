/** Procedures without a route whose names look as if somebody meant them to have one. */
import type { Placed } from '../router.ts'
import type { ProcedureKind } from '../types.ts'
import { conventions, verbOf } from './naming.ts'

/** What to tell of those that have no route; null if none of them looks like a mistake. */
export function unreached(procedures: readonly Placed[], reached: ReadonlySet<Placed>): string | null {
  const doubts = procedures.flatMap((placed) => {
    const why = reached.has(placed) ? null : doubtOf(placed)
    return why === null ? [] : [`${placed.path} (${why})`]
  })
  if (doubts.length === 0) return null
  return `no REST route for ${doubts.join(', ')}: say where with .rest({ method, path }), or .rest(false) for none`
}

/** A name that says nothing of a verb is no mistake: it may be meant for tRPC alone. */
function doubtOf({ names, procedure: { kind, rest } }: Placed): string | null {
  if (kind === 'subscription' || rest === false) return null
  if (rest !== null) return 'its .rest() has no path'
  if (names.length === 1) return null
  const verb = verbOf(names)
  const after = (names.at(-1) as string).slice(verb.length)
  // `findOrCreate`: two verbs are neither of them.
  if (/^(?:Or|And)(?![a-z])/.test(after)) return null
  const known = conventions.get(verb)
  if (known !== undefined)
    return known.kind === kind || things.has(verb) ? null : `a ${kind}, and ${verb} is for a ${known.kind}`
  const meant = slipOf(verb, kind)
  return meant === null ? null : `did you mean ${meant}${after}?`
}

/** Words of their own. */
const others = new Set(['crate', 'deplete', 'remote'])

/** Of a query these begin a thing, as in `patchNotes`. */
const things = new Set(['patch'])

/** The verb that was meant. Short ones are near to too many words: of these only swapped letters are a slip. */
function slipOf(word: string, kind: ProcedureKind): string | null {
  if (others.has(word)) return null
  for (const [verb, known] of conventions) {
    if (known.kind !== kind || verb.length < 4 || word.startsWith(verb)) continue
    let at = 0
    while (word[at] === verb[at]) at++
    const [left, right] = [word.slice(at), verb.slice(at)]
    const swapped = left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2)
    if (swapped) return verb
    const once = left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1)
    if (once && verb.length > 5) return verb
  }
  return null
}
