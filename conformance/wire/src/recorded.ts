import { readFileSync, writeFileSync } from 'node:fs'

import { type Known, patience } from './client.ts'
import type { AdapterName } from './server.ts'
import type { Outcome } from './suite.ts'
import { differences, isCanary, summary } from './verdict.ts'

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

/**
 * When uWebSockets.js closes an idle connection: after 8 to 12 s, counted by a clock of its own. The first of the times
 * is a second less, since it begins before the client has read a reply; the last is for a machine under load.
 * Milliseconds.
 */
const uwebsocketsLimit = { first: 7_000, last: 20_000 }

/** What a play has to wait for so that it can be compared with `verdict`, a recorded one. */
export function known(adapter: RecordedAdapter, verdict: Recorded | undefined): Known | undefined {
  const [, replies = '', end = ''] = /^(.*); (open|closed|silent)/.exec(verdict?.verdict ?? '') ?? []
  if (end === '') return undefined
  return {
    replies: replies.match(/(?:^|, )\d{3}(?= \(|,|$)/g)?.length ?? 0,
    end: end as Known['end'],
    limit: adapter === 'uwebsockets' ? uwebsocketsLimit.last : patience.reply + patience.close,
  }
}

/**
 * What there is to compare with `verdict`, a recorded one. Where it is `silent` and the connection was closed after the
 * time for which the recording play looked, this is `silent`, too: a machine that stands still looks for longer.
 */
export function comparable(
  adapter: RecordedAdapter,
  outcome: Outcome,
  verdict: Recorded | undefined,
): Recorded {
  const { one, played } = outcome
  // A timer may end up to a millisecond early.
  const looked = one.expected.end === 'any' ? patience.quiet - 1 : adapterLimit(adapter)
  const isLate = known(adapter, verdict)?.end === 'silent' && played.waited >= looked
  if (!isLate || played.end !== 'closed') return recorded(outcome)
  const silent = { ...played, end: 'silent' } as const
  return recorded({ ...outcome, played: silent, differences: differences(one, silent) })
}

function adapterLimit(adapter: RecordedAdapter): number {
  return adapter === 'uwebsockets' ? uwebsocketsLimit.first : Infinity
}
