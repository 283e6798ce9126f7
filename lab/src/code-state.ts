/** Whether a run is as old as the code, by what is in the sources that servers of ours are made of. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Run } from './cell.ts'
import { commitsOf } from './commits.ts'
import { rootFolder } from './folders.ts'

export type Age = 'current' | 'older'

/** What decides how fast Volant is. Of crates it is their sources alone, since a test makes no server slower. */
function sourcesIn(folder: string): string[] {
  const crates = readdirSync(join(folder, 'crates'))
    .map((name) => `crates/${name}/src`)
    .filter((path) => existsSync(join(folder, path)))
  return ['Cargo.toml', 'Cargo.lock', ...crates.toSorted(), 'packages/engine/src', 'packages/volant/src']
}

/** A digest of names and bytes. It is the same in every copy of these sources, whatever git knows of them. */
export function codeState(folder = rootFolder): string {
  const hash = createHash('sha256')
  for (const path of sourcesIn(folder).flatMap((source) => filesIn(folder, source))) {
    const bytes = readFileSync(join(folder, path))
    hash.update(`${path}\n${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex').slice(0, 12)
}

function filesIn(folder: string, source: string): string[] {
  if (source.startsWith('Cargo.')) return [source]
  return readdirSync(join(folder, source), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted()
}

/** `older`: the code has changed since the run, or since it was gone on with. */
export function ageOf({ code, resumed = [] }: Run): Age {
  const now = codeState()
  return [code, ...resumed.map((later) => later.code)].every((then) => then === now) ? 'current' : 'older'
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
  const { status, stdout } = spawnSync(
    'git',
    ['-C', rootFolder, 'rev-list', '--count', range, '--', ...sourcesIn(rootFolder)],
    { encoding: 'utf8' },
  )
  return status === 0 ? Number(stdout.trim()) : null
}
