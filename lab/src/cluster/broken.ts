/** `npm run lab -- kill --who start`: a version that throws when it starts, at first and in a roll. */
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { count } from '../soak.ts'
import { Cluster, type End } from './cluster.ts'
import { ClusterLoad, type Lost, linesOf } from './load.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface BrokenFindings {
  /** How a cluster ended none of whose workers ever started; null: it did not in time. */
  readonly end: End | null
  /** It said on its standard error why. */
  readonly said: boolean
  /** After a roll to a broken version: workers of before that still serve, of so many. */
  readonly serving: number
  readonly workers: number
  /** Requests that failed meanwhile, of all. */
  readonly lost: readonly Lost[]
  readonly sent: number
  /** A roll afterwards to a version that starts replaced all. */
  readonly mended: boolean
}

/** A cluster that never starts gives up in this time, in ms. */
const patience = 30_000
/** For a roll to try a new worker, and for a worker that it took in place of it to be seen, in ms. */
const trying = 8_000
const clients = 8
/** What `entries/cluster/work.mjs` throws. */
const words = 'this version is broken'

/** Starts what throws, prints what happened, and gives a sentence for each bar that was missed. */
export async function broken(
  name: ClusterName,
  { workers, seed }: { readonly workers: number; readonly seed: number },
): Promise<readonly string[]> {
  const found = { ...(await atStart(name, workers)), ...(await inRoll(name, workers, seed)) }
  const faults = judgeBroken(found)
  const { end, said, serving, lost, sent, mended } = found
  console.log(
    `${rivals[name].title}: a version that throws when it starts, with ${workers} workers\n` +
      `  at start    ${end === null ? `goes on after ${patience / 1_000} s` : `ends with ${String(end.signal ?? end.code)}`}, ${said ? 'and says why' : 'and does not say why'}\n` +
      `  in a roll   ${serving} of ${workers} workers of before serve, ${count(lost.length)} of ${count(sent)} requests failed\n` +
      linesOf(lost) +
      `  and then    a roll to one that starts ${mended ? 'replaces all' : 'does not replace all'}\n` +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeBroken({ end, said, serving, workers, lost, mended }: BrokenFindings): string[] {
  return [
    ...(end?.code === 1 ? [] : ['it did not end with exit code 1 when no worker ever started']),
    ...(said ? [] : ['it did not say why']),
    ...(serving === workers
      ? []
      : [`only ${serving} of ${workers} workers were kept when the new version failed`]),
    ...(lost.length === 0 ? [] : [`${count(lost.length)} requests failed in the roll`]),
    ...(mended ? [] : ['a later roll did not replace all workers']),
  ]
}

async function atStart(name: ClusterName, workers: number): Promise<Pick<BrokenFindings, 'end' | 'said'>> {
  const cluster = Cluster.begin({ name, workers }, await freePort())
  try {
    // Its workers take longer to start than this.
    cluster.breakNew(true)
    const end = await Promise.race([cluster.ended, sleep(patience, null, { ref: false })])
    return { end, said: cluster.errors().includes(words) }
  } finally {
    await cluster.stop()
  }
}

async function inRoll(name: ClusterName, workers: number, seed: number) {
  const cluster = await Cluster.start({ name, workers })
  const load = new ClusterLoad(cluster.port)
  try {
    load.start(clients, seed)
    const before = cluster.workers()
    cluster.breakNew(true)
    // A command that fails says so, which is right.
    await cluster.tellToRoll().catch(() => undefined)
    await sleep(trying)
    const after = cluster.workers()
    const serving = before.filter((worker) => after.includes(worker)).length
    cluster.breakNew(false)
    const mended = await cluster.roll().then(
      () => true,
      () => false,
    )
    await load.stop()
    return { serving, workers, lost: load.lost, sent: load.sent, mended }
  } finally {
    load.stopped = true
    await cluster.stop()
  }
}
