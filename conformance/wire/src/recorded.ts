import { readFileSync, writeFileSync } from 'node:fs'

import { type Known, patience, type Played } from './client.ts'
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
 * When uWebSockets.js closes an idle connection: after 8 to 12 s, counted by a clock of its own. The last of the times is
 * for a machine under load. Milliseconds.
 */
const uwebsocketsLimit = { first: 8_000, last: 20_000 }

/** Returns what a play has to wait for so that it can be compared with `verdict`, a recorded one. */
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
 * Returns what is compared with `verdict`, a recorded one. A machine that stands still looks for longer than the recording
 * play did. So a connection that was closed after the time for which that play looked counts as `silent` where this was
 * recorded, and as `open` where the probe was not sent in that time.
 */
export function comparable(
  adapter: RecordedAdapter,
  outcome: Outcome,
  verdict: Recorded | undefined,
): Recorded {
  const { one, played } = outcome
  const end = known(adapter, verdict)?.end
  const limit = adapter === 'uwebsockets' ? uwebsocketsLimit.first : Infinity
  // A timer may end up to a millisecond early.
  const isOver = one.expected.end === 'any' && played.waited >= patience.quiet - 1
  const isLate =
    (end === 'silent' && (isOver || played.idle >= limit)) ||
    (end === 'open' && played.idle >= limit && played.probed >= limit)
  if (!isLate || played.end !== 'closed') return recorded(outcome)
  const before: Played = { ...played, end }
  return recorded({ ...outcome, played: before, differences: differences(one, before) })
}
