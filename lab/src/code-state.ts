/** Whether a run is as old as the code: what git says of the sources that servers of ours are made of. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { Run } from './cell.ts'
import { commitsOf } from './commits.ts'
import { rootFolder } from './folders.ts'

export type Age = 'current' | 'older' | 'unknown'

/** What decides how fast Volant is; of crates only their sources, since a test makes no server slower. */
function sourcesOf(commit: string, folder: string): string[] {
  const crates = git(folder, 'ls-tree', '-d', '--name-only', '--full-tree', commit, 'crates/') ?? ''
  return [
    'Cargo.toml',
    'Cargo.lock',
    ...crates.split('\n').flatMap((crate) => (crate === '' ? [] : [`${crate}/src`])),
    'packages/engine/src',
    'packages/volant/src',
  ]
}

/**
 * A digest of what git keeps of the sources at HEAD, `+` behind it when files differ. Unlike a commit it is known in a
 * clone without history, and it is the same for as long as no source changes. Null where git does not know them.
 */
export function codeState(commit = 'HEAD', folder = rootFolder): string | null {
  const sources = sourcesOf(commit, folder)
  const objects = git(folder, 'ls-tree', '--full-tree', commit, '--', ...sources)
  if (objects === null || objects === '') return null
  const changed = commit === 'HEAD' && git(folder, 'status', '--porcelain', '--', ...sources) !== ''
  return createHash('sha256').update(objects).digest('hex').slice(0, 12) + (changed ? '+' : '')
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
  const range = `${machine.commit.replace('+', '')}..HEAD`
  const count = git(rootFolder, 'rev-list', '--count', range, '--', ...sourcesOf('HEAD', rootFolder))
  return count === null ? null : Number(count)
}

function git(folder: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
