/** What a request or a new connection costs a cluster: CPU time of all of its processes, the first one included. */
import type { Cores } from '../cores.ts'
import { Failure } from '../failure.ts'
import type { LoadResult } from '../generators/generator.ts'
import { runLoad } from '../generators/load.ts'
import { littleFault } from '../guards.ts'
import { type CpuReading, cpuBetween, readCpuOf } from '../readings.ts'
import { get, load } from '../scenarios/load.ts'
import { hello } from '../scenarios/hello.ts'
import { Cluster, type Launch, pidOf } from './cluster.ts'

export interface Cost {
  /** CPU time for each request, in µs. */
  readonly cpu: number
  /** Requests a second. */
  readonly rate: number
  /** The share of its core that the cluster used. */
  readonly busy: number
  /** Of each worker, the share of the CPU time of all; threads are not told apart. */
  readonly shares: readonly number[]
  /** Why the window counts for nothing; null: it counts. */
  readonly discarded: string | null
}

export interface Window {
  readonly connections: number
  /** A new connection for each request. */
  readonly close: boolean
  /** In s. */
  readonly seconds: number
}

/** Before a window the same load runs for so long, in s. */
const warmup = 0.8

/** How often a window is made that is discarded, before the lab gives up. */
const tries = 5

/**
 * Starts it on the server's core, loads it from the generator's, and stops it. A window in which nothing was answered, or
 * that Little's law discards, is made again, which is said. Throws a `Failure` for a wrong reply.
 */
export async function costOf(launch: Launch, window: Window, cores: Cores): Promise<Cost> {
  const cluster = await Cluster.start({ ...launch, core: cores.server })
  try {
    for (let left = tries; ; left--) {
      const cost = await measure(cluster, window, cores.generator)
      if (cost.discarded === null) return cost
      if (left === 1) throw new Failure(`${cluster.title}: ${cost.discarded}`)
      console.error(`${cluster.title}, a window is made again: ${cost.discarded}`)
    }
  } finally {
    await cluster.stop()
  }
}

/** Loads a cluster that runs. */
export async function measure(cluster: Cluster, window: Window, core: number | null): Promise<Cost> {
  const workers = [...new Set(cluster.workers().map(pidOf))]
  const read = () => ({ processes: readEach(cluster), at: performance.now() })
  const readings: ReturnType<typeof read>[] = []
  const result = await runLoad({
    load: load(get('/json', hello), {
      connections: window.connections,
      connection: window.close ? 'close' : 'keep-alive',
      warmup,
    }),
    port: cluster.port,
    seconds: window.seconds,
    core,
    onWarm: () => void readings.push(read()),
    onMeasured: () => void readings.push(read()),
  })
  const [before, after] = readings
  const fault = result.fault ?? result.gaveUp
  if (fault !== null) throw new Failure(`${cluster.title}: ${fault}`)
  if (result.errors + result.non2xx + result.ungreeted > 0)
    throw new Failure(
      `${cluster.title}: ${result.errors + result.ungreeted} errors, ${result.non2xx} refusals`,
    )
  if (before === undefined || after === undefined)
    throw new Failure(`${cluster.title}: the window was not told`)
  const used = usedBetween(before.processes, after.processes)
  const all = [...used.values()].reduce((sum, one) => sum + one, 0)
  return {
    cpu: all / 1e3 / result.requests,
    rate: result.requests / result.seconds,
    busy: all / 1e6 / (after.at - before.at),
    shares: workers.map((pid) => (used.get(pid) ?? 0) / all),
    discarded: discardedOf(result, window),
  }
}

function discardedOf(result: LoadResult, { connections, close }: Window): string | null {
  if (result.requests === 0) return 'nothing was answered in the window'
  // A new connection is made between two requests: less than one request is in flight on each.
  return close ? null : littleFault(result, connections).fault
}

/** Each process by itself: what rounding to ticks can explain is then that of one process. */
function readEach(cluster: Cluster): Map<number, CpuReading> {
  return new Map(cluster.family().map((pid) => [pid, readCpuOf([pid])]))
}

/** CPU time of each process in ns. One that began in between counts from its start. */
function usedBetween(
  before: ReadonlyMap<number, CpuReading>,
  after: ReadonlyMap<number, CpuReading>,
): Map<number, number> {
  const none: CpuReading = { threads: new Map(), ticks: 0 }
  return new Map(
    [...after].map(([pid, reading]) => [pid, cpuBetween(before.get(pid) ?? none, reading).running]),
  )
}
