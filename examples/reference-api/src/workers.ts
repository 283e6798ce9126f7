/** The workers of the service, for the page at `/live`: what their supervisor says of them, with rates. */
import { type Beat, type ClusterInfo, worker, type WorkerInfo } from 'volant/cluster'

/** A worker and its load. */
export interface WorkerLoad extends Omit<WorkerInfo, 'beat'> {
  readonly connections: number
  readonly inFlight: number
  /** The requests since its start. */
  readonly requests: number
  /** The resident set size in bytes. */
  readonly memory: number
  /** Requests a second, and processor seconds a second, between two of its beats; null if only one is known. */
  readonly rate: number | null
  readonly load: number | null
}

/** All of them. */
export interface Workers extends Omit<ClusterInfo, 'pid' | 'workers'> {
  /** The process id of the supervisor. */
  readonly supervisor: number
  /** The process id of the worker that gives the figures. */
  readonly here: number
  readonly workers: readonly WorkerLoad[]
}

interface Rates {
  readonly beat: Beat
  readonly rate: number | null
  readonly load: number | null
}

/** The first beat of a worker that has so many seconds gives its rates since its start. */
const young = 3

export class WorkerRates {
  /** By process id: a slot has two workers while one replaces the other. */
  #rates: ReadonlyMap<number, Rates> = new Map()

  /** Gives null without a supervisor, and when it has ended. */
  async now(): Promise<Workers | null> {
    const cluster = await worker.cluster().catch(() => null)
    return cluster === null ? null : this.of(cluster)
  }

  of({ pid: supervisor, workers, ...rest }: ClusterInfo): Workers {
    const rates = new Map<number, Rates>()
    for (const { pid, beat } of workers) if (beat !== null) rates.set(pid, this.#since(pid, beat))
    this.#rates = rates
    return {
      ...rest,
      supervisor,
      here: process.pid,
      workers: workers.map(({ beat, ...info }) => {
        const { rate = null, load = null } = rates.get(info.pid) ?? {}
        const { connections = 0, inFlight = 0, requests = 0, memory = 0 } = beat ?? {}
        return { ...info, connections, inFlight, requests, memory, rate, load }
      }),
    }
  }

  /** The beats of workers come when they like: while there is no new one, the rates stay. */
  #since(pid: number, beat: Beat): Rates {
    const before = this.#rates.get(pid)
    if (before === undefined) {
      const { uptime, requests, cpu } = beat
      return uptime < young
        ? { beat, rate: requests / uptime, load: cpu / uptime }
        : { beat, rate: null, load: null }
    }
    const seconds = beat.uptime - before.beat.uptime
    if (seconds <= 0) return before
    return {
      beat,
      rate: (beat.requests - before.beat.requests) / seconds,
      load: (beat.cpu - before.beat.cpu) / seconds,
    }
  }
}

/** Gives the sum over all workers; null if none of them has the figure yet. */
export function sumOf({ workers }: Workers, read: (worker: WorkerLoad) => number | null): number | null {
  const values = workers.map(read).filter((value) => value !== null)
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0)
}
