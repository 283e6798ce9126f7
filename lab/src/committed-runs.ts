/** The runs that are in the repository. Each is a preset of its name, so that anybody can repeat it by one command. */
import { existsSync } from 'node:fs'
import type { Results } from './analysis.ts'
import { type Age, ageOf } from './code-state.ts'
import { readResults, runFolder } from './store.ts'

/** A later one has scenarios that came when the earlier ones were measured already. */
export const committedRuns: readonly string[] = ['core', 'batteries', 'services', 'realtime']

export interface Committed {
  readonly name: string
  /** Null while it is still to be measured. */
  readonly results: Results | null
  readonly age: Age
}

export function readCommitted(name: string): Committed {
  if (!existsSync(runFolder(name))) return { name, results: null, age: 'current' }
  const results = readResults(name)
  return { name, results, age: ageOf(results.run) }
}
