/** `npm run lab -- kill --signal STOP`: a worker hangs. How long do new connections still go to it, and when is it gone? */
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../drain/connection.ts'
import { count } from '../soak.ts'
import { Cluster, pidOf } from './cluster.ts'
import { refuseThreads } from './kill.ts'
import { ClusterLoad } from './load.ts'
import { isRunning } from './processes.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface StallMethod {
  readonly workers: number
  /** How often it is done. */
  readonly stalls: number
}

/** What happened after one worker was stopped, in ms from then; null: it did not happen in time. */
export interface Stall {
  /** When the last of the new connections was made that was not answered at once. */
  readonly avoided: number
  /** New connections that were not answered at once, of all. */
  readonly stuck: number
  readonly probes: number
  /** When the process was gone. */
  readonly gone: number | null
  /** When as many as before served again. */
  readonly replaced: number | null
}

/** The bars, in ms: how long new connections may go to it, and when it is gone and replaced. */
const mostAvoided = 3_000
const mostGone = 31_000
/** A new connection is made so often, and is answered at once if it is in this time, in ms. */
const probing = 25
const atOnce = 1_000
/**
 * A connection is held for so long, in ms: where connections go to the worker that has fewest, one that hangs would
 * else never have fewest again.
 */
const holding = 4_000
/** What is not gone after this time stays, in ms. */
const patience = 40_000

/** Stops workers, prints what happened, and gives a sentence for each bar that was missed. */
export async function stall(name: ClusterName, method: StallMethod): Promise<readonly string[]> {
  refuseThreads(name)
  const found: Stall[] = []
  for (let left = method.stalls; left > 0; left--) found.push(await measure(name, method.workers))
  const faults = judgeStall(found)
  console.log(
    `${rivals[name].title}: one of ${method.workers} workers stopped by SIGSTOP, ${found.length} times\n` +
      found
        .map(
          (one) =>
            `  avoided after ${shown(one.avoided)} (${count(one.stuck)} of ${count(one.probes)} new connections waited), ` +
            `gone after ${shown(one.gone)}, replaced after ${shown(one.replaced)}\n`,
        )
        .join('') +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeStall(found: readonly Stall[]): string[] {
  const missed = (time: (one: Stall) => number | null, most: number, what: string): string[] => {
    const late = found.filter((one) => !((time(one) ?? Number.POSITIVE_INFINITY) <= most))
    return late.length === 0 ? [] : [`${what} within ${most / 1_000} s in ${late.length} of ${found.length}`]
  }
  return [
    ...missed(({ avoided }) => avoided, mostAvoided, 'the stopped worker was not avoided'),
    ...missed(({ gone }) => gone, mostGone, 'it was not gone'),
    ...missed(({ replaced }) => replaced, mostGone, 'it was not replaced'),
  ]
}

async function measure(name: ClusterName, workers: number): Promise<Stall> {
  const cluster = await Cluster.start({ name, workers })
  const load = new ClusterLoad(cluster.port, patience)
  try {
    const victim = pidOf(cluster.workers()[0] as string)
    const begun = performance.now()
    process.kill(victim, 'SIGSTOP')
    let [stuck, probes, avoided] = [0, 0, 0]
    let [gone, replaced]: [number | null, number | null] = [null, null]
    const asking: Promise<void>[] = []
    while (replaced === null && performance.now() < begun + patience) {
      const at = performance.now()
      probes++
      asking.push(
        isStuck(load).then((waited) => {
          if (!waited) return
          stuck++
          avoided = Math.max(avoided, at - begun)
        }),
      )
      await sleep(probing)
      if (gone === null && !isRunning(victim)) gone = performance.now() - begun
      if (gone !== null && cluster.workers().length >= workers) replaced = performance.now() - begun
    }
    await Promise.all(asking)
    return { avoided, stuck, probes, gone, replaced }
  } finally {
    await cluster.stop()
  }
}

/** Makes a connection with one request; true when it is not answered at once. */
async function isStuck(load: ClusterLoad): Promise<boolean> {
  const answered = Connection.open(load.port).then(async (connection) => {
    if (connection === null) return false
    const isRight = await load.ask(connection, 'GET')
    setTimeout(() => connection.close(), holding).unref()
    return isRight
  })
  return !(await Promise.race([answered, sleep(atOnce, false)]))
}

function shown(ms: number | null): string {
  return ms === null ? `never in ${patience / 1_000} s` : `${(ms / 1_000).toFixed(2)} s`
}
