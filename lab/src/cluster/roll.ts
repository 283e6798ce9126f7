/** `npm run lab -- roll`: rolling restarts of a whole cluster under load, and which requests fail. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../failure.ts'
import { count } from '../soak.ts'
import { Cluster } from './cluster.ts'
import { ClusterLoad, type Lost, type Posts, comparePosts, linesOf } from './load.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface RollMethod {
  readonly workers: number
  readonly rolls: number
  /** The load goes on until so many are sent and all rolls are done. */
  readonly requests: number
  readonly clients: number
  readonly seed: number
  /** After this time the run has failed, in s. */
  readonly limit: number
}

export interface RollFindings extends Posts {
  readonly sent: number
  readonly lost: readonly Lost[]
  /** How long each roll took, in ms. */
  readonly rolls: readonly number[]
  /** Workers that answered. */
  readonly seen: number
  /** How the cluster ended after SIGTERM: null, it had to be killed. */
  readonly end: { readonly code: number | null } | null
}

/** How long a cluster serves before it is rolled again, in ms. */
const between = 300

/** Rolls, prints what failed, and gives a sentence for each bar that was missed. */
export async function roll(name: ClusterName, method: RollMethod): Promise<readonly string[]> {
  const { reload, title } = rivals[name]
  if (typeof reload === 'object' && 'lacks' in reload)
    throw new Failure(`${title} has no rolling restart: ${reload.lacks}`, 2)
  const found = await measure(name, method)
  const faults = judgeRoll(found, method)
  console.log(
    `${title}: ${found.rolls.length} rolls of ${method.workers} workers, ${method.clients} clients, seed ${method.seed}\n` +
      `  requests    ${count(found.sent)}, answered by ${found.seen} workers\n` +
      `  failed      ${count(found.lost.length)}\n` +
      linesOf(found.lost) +
      `  run twice   ${count(found.twice)} POST\n` +
      `  a roll took ${shown(Math.min(...found.rolls))} to ${shown(Math.max(...found.rolls))}\n` +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeRoll(found: RollFindings, { rolls, requests, workers }: RollMethod): string[] {
  const faults: string[] = []
  if (found.lost.length > 0) faults.push(`${count(found.lost.length)} requests failed`)
  if (found.twice > 0) faults.push(`${count(found.twice)} POST were run twice`)
  if (found.unrun > 0) faults.push(`${count(found.unrun)} POST were answered, and no worker ran them`)
  if (found.rolls.length < rolls || found.sent < requests)
    faults.push(
      `only ${found.rolls.length} of ${rolls} rolls and ${count(found.sent)} of ${count(requests)} requests`,
    )
  // A worker that never answered was replaced without a test of it; one in four is what chance explains.
  if (found.seen < (workers * (rolls + 1)) / 2)
    faults.push(`only ${found.seen} of ${workers * (rolls + 1)} workers ever answered`)
  if (found.end === null) faults.push('it did not end after SIGTERM')
  else if (found.end.code !== 0) faults.push(`it ended with ${String(found.end.code)} after SIGTERM`)
  return faults
}

async function measure(name: ClusterName, method: RollMethod): Promise<RollFindings> {
  const cluster = await Cluster.start({ name, workers: method.workers })
  const load = new ClusterLoad(cluster.port)
  const deadline = performance.now() + method.limit * 1_000
  const rolls: number[] = []
  let end: RollFindings['end'] = null
  let ran: number[] = []
  try {
    load.start(method.clients, method.seed)
    while (rolls.length < method.rolls && performance.now() < deadline) {
      await sleep(between)
      const begun = performance.now()
      await cluster.roll()
      rolls.push(performance.now() - begun)
      console.error(
        `${name}, roll ${rolls.length} of ${method.rolls}: ${shown(rolls.at(-1) as number)}, ${count(load.lost.length)} failed of ${count(load.sent)}`,
      )
    }
    while (load.sent < method.requests && performance.now() < deadline) await sleep(20)
    await load.stop()
    ran = cluster.posts()
  } finally {
    load.stopped = true
    end = await cluster.stop()
  }
  return {
    sent: load.sent,
    lost: load.lost,
    rolls,
    seen: load.seen.size,
    end,
    ...comparePosts(load.answeredPosts, ran),
  }
}

function shown(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
