/** Of which commit the cells of a run are. */
import type { Run } from './cell.ts'

/** `7234d7e0b5a0`, and `…, then eb7374505bbf from 2026-11-21 12:39:31 UTC` for a run that another commit went on with. */
export function commitsOf({ machine, resumed = [] }: Run): string {
  const short = (commit: string | null): string =>
    commit === null ? 'unknown' : commit.slice(0, 12) + (commit.endsWith('+') ? '+' : '')
  const later = resumed
    .filter(({ commit }) => commit !== machine.commit)
    .map(({ at, commit }) => `then ${short(commit)} from ${at.slice(0, 19).replace('T', ' ')} UTC`)
  return [short(machine.commit), ...later].join(', ')
}
