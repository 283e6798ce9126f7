/** The figures of several workers: what each of them gives, and what they are together. */
import type { ServerStats } from '@volant/engine'
import { listeningApps } from '../app/supervised.ts'
import type { BusStats } from '../types/bus.ts'
import type { RequestApp } from '../types/request.ts'
import type { ClusterInfo, Gathering } from '../worker/messages.ts'
import type { Supervision } from '../worker/supervision.ts'
import { eventLoopLag, type EventLoopLag } from './event-loop.ts'
import type { RouteFigures, StatusClass } from './metrics.ts'

/** The supervisor and its workers, and what all of them count. */
export interface ClusterFigures extends ClusterInfo {
  /** The slot of the worker that gives the figures, from 0. */
  readonly worker: number
  /** The counters of this app in all workers, with those of workers that have ended. */
  readonly server: ServerStats
}

/** The counters of a server, and of the bus if the app has one. */
export type AppStats = ServerStats & { readonly bus?: BusStats }

/** What is measured of one process. */
export interface ProcessFigures {
  /** The start of the process, in seconds since 1970. */
  readonly startedAt: number
  readonly memory: NodeJS.MemoryUsage
  /** The seconds of processor time since start. */
  readonly cpu: { readonly user: number; readonly system: number }
  readonly eventLoopLag: EventLoopLag
}

/** The figures of one worker. */
export interface WorkerFigures extends ProcessFigures {
  /** The slot. */
  readonly worker: number
  readonly server: AppStats
}

/** The figures of all workers. */
export interface AllFigures {
  /** The sums of the counters, and of what is open now, over all workers. What belongs to a process is that of this one. */
  readonly total: Omit<WorkerFigures, 'worker'>
  /** The sums of the durations. */
  readonly routes: readonly RouteFigures[]
  /** One worker of each slot. */
  readonly workers: readonly WorkerFigures[]
  readonly cluster: ClusterInfo
}

/** What a worker gives. */
interface Share {
  /** The counters by name: those of an app, of its bus, and the requests by method, status, bucket and route. */
  readonly sums: Readonly<Record<string, number>>
  /** What the apps of the process say, in the order in which they began to listen. */
  readonly apps: readonly AppStats[]
  readonly process: ProcessFigures
}

const counters = ['requests', 'refused', 'dropped', 'panics'] as const
const gauges = ['connections', 'inFlight', 'sockets'] as const
const busCounters = ['published', 'received', 'unsent', 'gaps', 'lost', 'refused'] as const

/** Figures that were gathered so many milliseconds ago are gathered anew in the background. */
const freshFor = 500
/** Figures that are older than so many milliseconds say nothing about now. */
const staleAfter = 5_000

/** The start of this process, in seconds since 1970. */
export const startedAt = Date.now() / 1_000 - process.uptime()

export function processFigures(): ProcessFigures {
  const { user, system } = process.cpuUsage()
  return {
    startedAt,
    memory: process.memoryUsage(),
    cpu: { user: user / 1e6, system: system / 1e6 },
    eventLoopLag: eventLoopLag(),
  }
}

/** How many of them this process has made: the nth one is the same in all workers. */
let made = 0

export class SharedMetrics {
  readonly #supervisor: Supervision
  readonly #name = `metrics ${made++}`
  readonly #bounds: readonly number[]
  #latest: { readonly at: number; readonly gathering: Gathering } | null = null
  /** The figures that are being gathered. */
  #asking: Promise<Gathering> | null = null

  /** `routes` gives the durations in this worker, in buckets up to `bounds` seconds. */
  constructor(supervisor: Supervision, bounds: readonly number[], routes: () => readonly RouteFigures[]) {
    this.#supervisor = supervisor
    this.#bounds = bounds
    supervisor.onGather(this.#name, (): Share => ({
      sums: sumsOf(listeningApps, routes(), bounds),
      apps: listeningApps.map((app) => app.stats()),
      process: processFigures(),
    }))
  }

  /**
   * Asks all workers, for at most a second. Those who ask meanwhile get the same answer. An older one is not given again:
   * another worker may have told higher counts since. Rejects if the supervisor does not answer.
   */
  async gather(app: RequestApp['serving']): Promise<AllFigures> {
    return this.#put(await this.#ask(), app)
  }

  /**
   * Gives what was gathered last, at most five seconds ago, and has it gathered anew if that is half a second ago. Gives
   * undefined if there is nothing as young as that.
   */
  latest(app: RequestApp['serving']): ClusterFigures | undefined {
    const age = this.#age
    // Without its supervisor the worker ends soon.
    if (age > freshFor) this.#ask().catch(() => {})
    if (this.#latest === null || age > staleAfter) return undefined
    const { cluster, total } = this.#put(this.#latest.gathering, app)
    const { bus: _, ...counts } = total.server
    return { worker: this.#supervisor.worker, ...cluster, server: counts }
  }

  /** The milliseconds since figures were gathered. */
  get #age(): number {
    return performance.now() - (this.#latest?.at ?? -Infinity)
  }

  #ask(): Promise<Gathering> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #askNow(): Promise<Gathering> {
    const gathering = await this.#supervisor.gather(this.#name)
    this.#latest = { at: performance.now(), gathering }
    return gathering
  }

  #put({ workers: given, ended, cluster }: Gathering, app: RequestApp['serving']): AllFigures {
    const shares = given.filter(({ value }) => value !== null) as { worker: number; value: Share }[]
    const sums = new Map<string, number>()
    for (const each of [...shares.map(({ value }) => value.sums), ended]) {
      for (const [name, count] of Object.entries(each)) sums.set(name, (sums.get(name) ?? 0) + count)
    }
    const at = listeningApps.indexOf(app)
    const own = app.stats()
    // The later one of a slot takes the place of the one before, so that no series is there twice.
    const bySlot = new Map(
      shares.map(({ worker, value }) => [
        worker,
        { worker, server: value.apps[at] ?? own, ...value.process },
      ]),
    )
    // An app that does not listen has no counterpart in other workers.
    const all = shares.map(({ value }) => value)
    const server = at < 0 ? own : totalOf(at, sums, all)
    return {
      total: { server, ...processFigures() },
      routes: routesOf(sums, this.#bounds),
      workers: [...bySlot.values()].toSorted((a, b) => a.worker - b.worker),
      cluster,
    }
  }
}

/**
 * Seconds are counted in whole microseconds: a sum of fractions depends on its order, so that a counter could go back when
 * a worker ends.
 */
function sumsOf(
  apps: readonly RequestApp['serving'][],
  routes: readonly RouteFigures[],
  bounds: readonly number[],
): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [at, app] of apps.entries()) {
    const stats = app.stats()
    for (const name of counters) if (stats[name] !== undefined) sums[`app ${at} ${name}`] = stats[name]
    if (stats.bus !== undefined) for (const name of busCounters) sums[`bus ${at} ${name}`] = stats.bus[name]
  }
  for (const { route, method, status, seconds, buckets } of routes) {
    sums[`time ${method} ${status} sum ${route}`] = Math.round(seconds * 1e6)
    for (const [at, count] of buckets.entries()) {
      // A new version of the app may have other buckets than workers that have ended, so the names have the bounds.
      if (count > 0) sums[`time ${method} ${status} ${bounds[at] ?? Infinity} ${route}`] = count
    }
  }
  return sums
}

function totalOf(at: number, sums: ReadonlyMap<string, number>, shares: readonly Share[]): AppStats {
  const all = shares.flatMap(({ apps }) => apps[at] ?? [])
  const entries: [name: string, value: number | undefined][] = [
    ...counters.map((name): [string, number | undefined] => [name, sums.get(`app ${at} ${name}`)]),
    ...gauges.map((name): [string, number | undefined] => [
      name,
      all.some((each) => each[name] !== undefined)
        ? all.reduce((sum, each) => sum + (each[name] ?? 0), 0)
        : undefined,
    ]),
  ]
  const total = Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as unknown as AppStats
  if (!sums.has(`bus ${at} published`)) return total
  const bus = {
    connected: all.every((each) => each.bus?.connected !== false),
    topics: all.reduce((sum, { bus: each }) => sum + (each?.topics ?? 0), 0),
    waiting: all.reduce((sum, { bus: each }) => sum + (each?.waiting ?? 0), 0),
    ...Object.fromEntries(busCounters.map((name) => [name, sums.get(`bus ${at} ${name}`) ?? 0])),
  } as BusStats
  return { ...total, bus }
}

/** Gives the durations. A count of other bounds is counted at the next one that is not below. */
function routesOf(sums: ReadonlyMap<string, number>, bounds: readonly number[]): RouteFigures[] {
  const found = new Map<
    string,
    { -readonly [Name in keyof RouteFigures]: RouteFigures[Name] } & { buckets: number[] }
  >()
  for (const [name, value] of sums) {
    const [, method, status, bound, route] = /^time (\S+) (\S+) (\S+) (.*)$/.exec(name) ?? []
    if (method === undefined || status === undefined || route === undefined) continue
    const key = `${method} ${status} ${route}`
    let figures = found.get(key)
    if (figures === undefined) {
      const buckets = Array.from({ length: bounds.length + 1 }, () => 0)
      figures = { route, method, status: status as StatusClass, count: 0, seconds: 0, buckets }
      found.set(key, figures)
    }
    if (bound === 'sum') figures.seconds = value / 1e6
    else {
      const at = bounds.findIndex((each) => each >= Number(bound))
      const bucket = at < 0 ? bounds.length : at
      figures.buckets[bucket] = (figures.buckets[bucket] as number) + value
      figures.count += value
    }
  }
  return [...found.values()]
}
