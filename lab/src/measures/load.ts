/** A closed loop: what the server needs for a request when it is never without one. */
import type { LoadResult } from '../generators/generator.ts'
import { littleFault, windowFault } from '../guards.ts'
import type { MetricName } from '../metrics.ts'
import { type Assignment, type Finding, loadOf, windowOf, withServer } from './measurement.ts'
import { watch } from './watched.ts'

export function measureLoad(assignment: Assignment): Promise<Finding> {
  const { variant } = assignment
  return withServer(assignment, async (server, commands) => {
    const load = loadOf(assignment)
    const seconds = windowOf(assignment)
    const watched = await watch(server, assignment, { load, seconds }, commands)
    const { result, cpu, elapsed, busy, waited, flags, memory } = watched
    const metrics = {
      ...latencies(result),
      cpu: (cpu * 1e6) / result.requests,
      rate: result.requests / result.seconds,
      errors: result.errors,
      // Where the scenario asks for refusals they are right, and stand here all the same.
      non2xx: result.non2xx,
      rss: memory / 1e6,
      busy: busy * 100,
      waited: waited * 100,
      requests: result.requests,
    }
    const little = littleFault(result, load.connections * load.pipelining)
    // A new connection is made between two requests: less than one request is in flight on each.
    const checked = variant.lane !== 'new connections'
    const share = little.share === null || !checked ? {} : { little: little.share }
    // Our own generator waits until the end of its window was read, so only h2load is checked.
    const window = variant.transport === undefined ? null : windowFault(elapsed, seconds)
    const fault = (checked ? little.fault : null) ?? window
    return {
      status: fault !== null ? ('discarded' as const) : ('measured' as const),
      ...(fault !== null && { reason: fault }),
      metrics: { ...metrics, ...share },
      flags,
      commands,
      ...(result.histogram && { histogram: result.histogram }),
    }
  })
}

/** Those that the generator tells, and the transfer. */
export function latencies(result: LoadResult): Partial<Record<MetricName, number>> {
  const { p50, p95, p99, p999, mean, worst, bytesReceived, seconds } = result
  const transfer = bytesReceived === null ? null : bytesReceived / 1e6 / seconds
  const all = { p50, p95, p99, p999, mean, worst, transfer }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Partial<
    Record<MetricName, number>
  >
}
