/** Whether a run is as old as the code: what git says of the sources that servers of ours are made of. */
import { spawnSync } from 'node:child_process'
import type { Run } from './cell.ts'
import { commitsOf } from './commits.ts'
import { rootFolder } from './folders.ts'

export type Age = 'current' | 'older' | 'unknown'

/** What decides how fast Volant is. The places that these folders had before count for older runs. */
const sources = ['crates', 'packages/engine/src', 'packages/volant/src']

/**
 * The objects that git keeps of the sources at HEAD, `+` behind them when files differ. Unlike a commit they are known in
 * a clone without history, and they are the same for as long as no source changes. Null where git does not know them.
 */
export function codeState(commit = 'HEAD'): string | null {
  const trees = sources.map((folder) => git('rev-parse', '--short=12', `${commit}:${folder}`))
  if (trees.includes(null)) return null
  const changed = commit === 'HEAD' && git('status', '--porcelain', '--', ...sources) !== ''
  return trees.join(' ') + (changed ? '+' : '')
}

/** `older`: the code has changed since the run. `unknown`: git cannot tell, as in a folder that is no checkout. */
export function ageOf({ code, machine, resumed = [] }: Run): Age {
  const now = codeState()?.replace('+', '') ?? null
  if (now === null) return 'unknown'
  const then = code ?? (machine.commit === null ? null : codeState(machine.commit.replace('+', '')))
  // A run of a commit that this clone does not have is not of this one.
  return then === now && !resumed.some(({ code: later }) => later !== undefined && later !== now)
    ? 'current'
    : 'older'
}

/** For documents: it has no number of commits, which would change with every commit. Null for a run of this code. */
export function ageNote(run: Run, age: Age): string | null {
  if (age !== 'older') return null
  return `older than the code: measured on ${run.startedAt.slice(0, 10)} at commit ${commitsOf(run)}, and the engine or the framework has changed since`
}

/** How many commits changed the sources since the run; null where the history does not say. */
export function commitsSince({ machine }: Run): number | null {
  if (machine.commit === null) return null
  const count = git('rev-list', '--count', `${machine.commit.replace('+', '')}..HEAD`, '--', ...sources)
  return count === null ? null : Number(count)
}

function git(...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-C', rootFolder, ...args], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
