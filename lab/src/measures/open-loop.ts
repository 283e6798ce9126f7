/** Open loops: requests are due at fixed times, whatever the server does, and latency counts from those times. */
import type { CurvePoint, Flag } from '../cell.ts'
import type { LoadResult } from '../generators/generator.ts'
import type { RunningServer } from '../server.ts'
import { type Assignment, type Finding, loadOf, windowOf, withServer } from './measurement.ts'
import { type Watched, watch } from './watched.ts'

/** Of the search for the highest rate. */
const steps = 6
const quickSteps = 3
/** An overload goes on for so many times the limit: otherwise nobody can be late. */
const overloadLimits = 5
/** The share of requests that may be sent late while connections are free: beyond, the generator is too slow. */
const lateShare = 0.01
/** The same where CPU time is the headline: what a request costs bears it that a few were sent together. */
const steadyLateShare = 0.05

/** What a server does in a closed loop, on the same process, and what is to be known of that figure. */
interface Capacity {
  readonly rate: number
  readonly flags: readonly Flag[]
}

/** Latency at shares of what the server does in a closed loop. */
export function measureCurve(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'curve') throw new TypeError('not a curve')
  const shares = method.quick ? [0.5, 0.9] : variant.measure.shares
  return withServer(assignment, async (server, commands) => {
    const capacity = await capacityOf(server, assignment, commands)
    const curve: CurvePoint[] = []
    let late: string | null = null
    for (const share of shares) {
      const offered = Math.max(1, Math.round(capacity.rate * share))
      const { result, cpu } = await openLoop(server, assignment, offered, commands)
      late ??= lateFault(result)
      curve.push({
        share,
        offered,
        answered: result.requests / result.seconds,
        p50: result.p50 as number,
        p99: result.p99 as number,
        p999: result.p999 as number,
        cpu: perRequest(cpu, result),
      })
    }
    const half = curve.find(({ share }) => share === 0.5) as CurvePoint
    const { p50, p99, p999, cpu } = half
    const metrics = { capacity: capacity.rate, p50, p99, p999, cpu: cpu as number }
    return { ...judged(late), metrics, flags: capacity.flags, commands, series: { curve } }
  })
}

/** The highest rate with p99.9 within the limit and every request answered, by halving between none and the capacity. */
export function measureHighest(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'highest') throw new TypeError('not a search for the highest rate')
  const { limit } = variant.measure
  return withServer(assignment, async (server, commands) => {
    const capacity = await capacityOf(server, assignment, commands)
    let low = 0
    let high = capacity.rate
    let best: Watched | null = null
    for (let step = 0; step < (method.quick ? quickSteps : steps); step += 1) {
      const rate = Math.max(1, Math.round((low + high) / 2))
      const watched = await openLoop(server, assignment, rate, commands)
      if (isWithin(watched.result, rate, limit)) {
        low = rate
        best = watched
      } else high = rate
    }
    const metrics = {
      highest: low,
      capacity: capacity.rate,
      ...(best !== null && { ...percentiles(best.result), cpu: perRequest(best.cpu, best.result) }),
    }
    return { status: 'measured', metrics, flags: capacity.flags, commands }
  })
}

/** Every percentile may lie at the limit: by Little's law so many are in flight at the end, at most. */
export function isWithin(
  { requests, p999, errors, unfinished }: LoadResult,
  rate: number,
  limit: number,
): boolean {
  const inFlight = Math.max(1, (rate * limit) / 1e3)
  return requests > 0 && errors === 0 && p999 !== null && p999 <= limit && unfinished <= inFlight
}

/** Right replies within the limit, per second, when more is asked than the server can do. */
export function measureOverload(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'overload') throw new TypeError('not an overload')
  const { factor, limit } = variant.measure
  return withServer(assignment, async (server, commands) => {
    const capacity = await capacityOf(server, assignment, commands)
    const load = { ...loadOf(assignment), warmup: 0.3 }
    const seconds = (overloadLimits * limit) / 1e3 / (method.quick ? 2 : 1)
    const rate = Math.max(1, Math.round(capacity.rate * factor))
    const { result, cpu } = await watch(server, assignment, { load, seconds, rate, limit }, commands)
    const goodput = (result.withinLimit ?? 0) / result.seconds
    const metrics = {
      capacity: capacity.rate,
      goodput,
      goodputShare: (100 * goodput) / capacity.rate,
      errors: result.errors,
      cpu: perRequest(cpu, result),
      ...(result.p50 !== null && { p50: result.p50, p99: result.p99 as number }),
    }
    return { status: 'measured', metrics, flags: capacity.flags, commands }
  })
}

/** CPU time and latency at a rate that every entry can do: what a server costs that is not full. */
export function measureSteady(assignment: Assignment): Promise<Finding> {
  const { rate } = assignment
  if (rate === undefined) throw new TypeError('an open loop without a rate')
  return withServer(assignment, async (server, commands) => {
    const load = loadOf(assignment)
    const seconds = windowOf(assignment)
    const { result, cpu, busy, flags, memory } = await watch(
      server,
      assignment,
      { load, seconds, rate },
      commands,
    )
    const metrics = {
      cpu: perRequest(cpu, result),
      offered: rate,
      rate: result.requests / result.seconds,
      ...percentiles(result),
      errors: result.errors,
      rss: memory / 1e6,
      busy: busy * 100,
      requests: result.requests,
    }
    // It waits by intention: only what disturbed it is told.
    const disturbing = flags.filter((flag) => flag !== 'generator-bound')
    return { ...judged(lateFault(result, steadyLateShare)), metrics, flags: disturbing, commands }
  })
}

/** µs of CPU time; `cpu` is in s. */
function perRequest(cpu: number, { requests }: LoadResult): number {
  return (cpu * 1e6) / requests
}

function percentiles({ p50, p99, p999 }: LoadResult): { p50: number; p99: number; p999: number } {
  return { p50: p50 as number, p99: p99 as number, p999: p999 as number }
}

async function capacityOf(
  server: RunningServer,
  assignment: Assignment,
  commands: string[],
): Promise<Capacity> {
  const seconds = windowOf(assignment)
  const watched = await watch(server, assignment, { load: loadOf(assignment), seconds }, commands)
  return { rate: watched.result.requests / watched.result.seconds, flags: watched.flags }
}

async function openLoop(
  server: RunningServer,
  assignment: Assignment,
  rate: number,
  commands: string[],
): Promise<Watched> {
  const { quick } = assignment.method
  const load = { ...loadOf(assignment), warmup: quick ? 0.1 : 0.3 }
  const seconds = quick ? Math.min(0.5, windowOf(assignment)) : windowOf(assignment)
  return await watch(server, assignment, { load, seconds, rate }, commands)
}

/** Sent late although connections were free: these latencies are the generator's. */
function lateFault(
  { lateSends, longestQueue, requests }: LoadResult,
  allowed: number = lateShare,
): string | null {
  if (longestQueue > 0 || lateSends <= requests * allowed) return null
  return `the generator sent ${lateSends} of ${requests} requests late: another core, a lower rate`
}

function judged(late: string | null): Pick<Finding, 'status' | 'reason'> {
  return late === null ? { status: 'measured' } : { status: 'discarded', reason: late }
}
