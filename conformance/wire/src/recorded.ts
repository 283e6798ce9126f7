import { readFileSync, writeFileSync } from 'node:fs'

import type { AdapterName } from './server.ts'
import type { Outcome } from './suite.ts'
import { isCanary, summary } from './verdict.ts'

/** One verdict as recorded: what the adapter did, and whether that is what the case expects. */
export interface Recorded {
  readonly verdict: string
  readonly fits: boolean
  /** Set where a canary was answered: something in between that reads the same octets otherwise can be deceived. */
  readonly canary?: true
}

export interface RecordedFile {
  /** Major version of the Node.js that was recorded: its parser decides most of the differences. */
  readonly node: number
  /** By the id of the case. */
  readonly verdicts: Readonly<Record<string, Recorded>>
}

export const nodeMajor = Number.parseInt(process.versions.node, 10)

/** The adapters whose HTTP parser is not ours. */
export const recordedAdapters = ['node-http', 'uwebsockets'] as const satisfies readonly AdapterName[]
export type RecordedAdapter = (typeof recordedAdapters)[number]

/** `recorded/<adapter>.json` of the package, from the compiled tree. */
function fileOf(adapter: RecordedAdapter): URL {
  return new URL(`../../recorded/${adapter}.json`, import.meta.url)
}

export function readRecorded(adapter: RecordedAdapter): RecordedFile {
  return JSON.parse(readFileSync(fileOf(adapter), 'utf8')) as RecordedFile
}

export function writeRecorded(adapter: RecordedAdapter, outcomes: readonly Outcome[]): void {
  const rows = outcomes.map((outcome): [string, Recorded] => [outcome.one.id, recorded(outcome)])
  const content: RecordedFile = { node: nodeMajor, verdicts: Object.fromEntries(rows) }
  writeFileSync(fileOf(adapter), `${JSON.stringify(content, null, 2)}\n`)
}

export function recorded(outcome: Outcome): Recorded {
  const { played } = outcome
  return {
    verdict: summary(played),
    fits: outcome.differences.length === 0,
    ...(played.read.replies.some(isCanary) ? { canary: true as const } : {}),
  }
}
