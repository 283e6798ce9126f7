/** Of which commit the cells of a run are. */
import type { Run } from './cell.ts'

/** `7234d7e0b5a0`, and `… (from 2026-11-21T12:39:31Z on eb7374505bbf)` for a run that was gone on with by another. */
export function commitsOf({ machine, resumed = [] }: Run): string {
  const short = (commit: string | null): string =>
    commit === null ? 'unknown' : commit.slice(0, 12) + (commit.endsWith('+') ? '+' : '')
  const later = resumed
    .filter(({ commit }) => commit !== machine.commit)
    .map(({ at, commit }) => `from ${at.slice(0, 19)}Z on ${short(commit)}`)
  return short(machine.commit) + (later.length > 0 ? ` (${later.join(', ')})` : '')
}
