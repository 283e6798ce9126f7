/** `npm run lab -- kill --who supervisor`: it is killed in each state; no process, port or zombie may be left. */
import { createServer } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { Cluster } from './cluster.ts'
import { ClusterLoad } from './load.ts'
import { isRunning, stateOf } from './processes.ts'
import { type ClusterName, rivals } from './rivals.ts'

/** The states in which the first process is killed. */
export const states = ['starting', 'serving', 'rolling', 'draining'] as const
export type State = (typeof states)[number]

/** What is left after the time that it may take. */
export interface Leftovers {
  readonly state: State
  /** False: it had ended by itself before it could be killed, as it may when it drains. */
  readonly wasKilled: boolean
  /** Processes that had a name of their own before, and still run. */
  readonly running: number
  readonly zombies: number
  /** Somebody listens on the port, or holds it. */
  readonly holdsPort: boolean
  /** When nothing of it was left, in ms; null: something was to the end. */
  readonly until: number | null
}

/** After this time nothing is left, in ms. */
const most = 5_000
/** Requests are in flight when it is killed. */
const clients = 16

/** Kills the first process in each state, prints what was left, and gives a sentence for each bar that was missed. */
export async function orphans(
  name: ClusterName,
  { workers, seed }: { readonly workers: number; readonly seed: number },
): Promise<readonly string[]> {
  const { reload, title } = rivals[name]
  const able = states.filter(
    (state) => state !== 'rolling' || !(typeof reload === 'object' && 'lacks' in reload),
  )
  const found: Leftovers[] = []
  for (const state of able) found.push(await measure(name, workers, seed, state))
  const faults = judgeOrphans(found)
  console.log(
    `${title}: the first process killed by SIGKILL, with ${workers} workers\n` +
      found
        .map(
          ({ state, wasKilled, running, zombies, holdsPort, until }) =>
            `  ${state.padEnd(10)}${wasKilled ? '' : 'it had ended by itself; '}${
              until === null
                ? `after ${most / 1_000} s: ${running} processes, ${zombies} zombies, the port is ${holdsPort ? 'held' : 'free'}`
                : `nothing is left after ${(until / 1_000).toFixed(2)} s`
            }\n`,
        )
        .join('') +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeOrphans(found: readonly Leftovers[]): string[] {
  return found.flatMap(({ state, running, zombies, holdsPort }) => [
    ...(running > 0 ? [`${running} processes outlived one that was ${state}`] : []),
    ...(zombies > 0 ? [`${zombies} zombies of one that was ${state}`] : []),
    ...(holdsPort ? [`the port of one that was ${state} is not free`] : []),
  ])
}

async function measure(name: ClusterName, workers: number, seed: number, state: State): Promise<Leftovers> {
  const cluster =
    state === 'starting'
      ? Cluster.begin({ name, workers }, await freePort())
      : await Cluster.start({ name, workers })
  const load = new ClusterLoad(cluster.port, most)
  try {
    if (state === 'starting') {
      // Its first worker is there, and does not serve yet.
      const deadline = performance.now() + startLimit
      while (cluster.family().length < 2 && performance.now() < deadline) await sleep(1)
    } else load.start(clients, seed)
    if (state !== 'starting') await sleep(settling)
    if (state === 'rolling') await Promise.race([cluster.tellToRoll(), sleep(settling)])
    if (state === 'draining') cluster.signal('SIGTERM')
    // Within this time a new worker starts, or requests that were in flight are answered.
    await sleep(state === 'rolling' ? 100 : 5)
    const family = cluster.family()
    const wasKilled = isRunning(cluster.pid)
    const begun = performance.now()
    cluster.signal('SIGKILL')
    load.stopped = true
    let left = await leftovers(cluster, family)
    while (isAny(left) && performance.now() < begun + most) {
      await sleep(20)
      left = await leftovers(cluster, family)
    }
    return { state, wasKilled, ...left, until: isAny(left) ? null : performance.now() - begun }
  } finally {
    await load.stop()
    await cluster.stop()
  }
}

/** For requests to be in flight, in ms. */
const settling = 300
/** For the first worker to be there, in ms. */
const startLimit = 30_000

type Left = Pick<Leftovers, 'running' | 'zombies' | 'holdsPort'>

function isAny({ running, zombies, holdsPort }: Left): boolean {
  return running + zombies > 0 || holdsPort
}

async function leftovers(cluster: Cluster, family: readonly number[]): Promise<Left> {
  // A worker may have been started in the last moment.
  const all = [...new Set([...family, ...cluster.family()])]
  return {
    running: all.filter(isRunning).length,
    zombies: all.filter((pid) => stateOf(pid) === 'Z').length,
    holdsPort: !(await isFree(cluster.port)),
  }
}

/** True when a server could listen there. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return true
  } catch {
    return false
  } finally {
    server.close()
  }
}
