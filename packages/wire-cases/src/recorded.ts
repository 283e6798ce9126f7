import { readFileSync, writeFileSync } from 'node:fs'

import type { Outcome } from './suite.ts'
import { summary } from './verdict.ts'

/** One verdict as recorded: what the adapter did, and whether that is what the case expects. */
export interface Recorded {
  readonly verdict: string
  readonly fits: boolean
}

export interface RecordedFile {
  /** Major version of the Node.js that was recorded: its parser decides most of the differences. */
  readonly node: number
  /** By the id of the case. */
  readonly verdicts: Readonly<Record<string, Recorded>>
}

export const nodeMajor = Number.parseInt(process.versions.node, 10)

/** `recorded/node-http.json` of the package, from the compiled tree. */
const file = new URL('../../recorded/node-http.json', import.meta.url)

export function readRecorded(): RecordedFile {
  return JSON.parse(readFileSync(file, 'utf8')) as RecordedFile
}

export function writeRecorded(outcomes: readonly Outcome[]): void {
  const rows = outcomes.map((outcome): [string, Recorded] => [outcome.one.id, recorded(outcome)])
  const content: RecordedFile = { node: nodeMajor, verdicts: Object.fromEntries(rows) }
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}

export function recorded(outcome: Outcome): Recorded {
  return { verdict: summary(outcome.played), fits: outcome.differences.length === 0 }
}
