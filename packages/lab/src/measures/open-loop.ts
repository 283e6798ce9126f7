/** Open loops: requests are due at fixed times, whatever the server does, and latency counts from those times. */
import type { CurvePoint } from '../cell.ts'
import { Failure } from '../failure.ts'
import type { LoadResult } from '../generators/generator.ts'
import type { RunningServer } from '../server.ts'
import {
  type Assignment,
  Disqualified,
  type Finding,
  generate,
  loadOf,
  windowOf,
  withServer,
} from './measurement.ts'

/** Of the search for the highest rate. */
const steps = 6
const quickSteps = 3

/** Latency at shares of what the server does in a closed loop. */
export function measureCurve(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'curve') throw new TypeError('not a curve')
  const shares = method.quick ? [0.5, 0.9] : variant.measure.shares
  return withServer(assignment, async (server) => {
    const commands = [server.command]
    const capacity = await capacityOf(server, assignment, commands)
    const curve: CurvePoint[] = []
    for (const share of shares) {
      const offered = Math.round(capacity * share)
      const result = await openLoop(server, assignment, offered, commands)
      curve.push({
        share,
        offered,
        answered: result.requests / result.seconds,
        p50: result.p50 as number,
        p99: result.p99 as number,
        p999: result.p999 as number,
      })
    }
    // The table has the latencies of one load that all are asked for: half of what each can do.
    const half = curve.find(({ share }) => share === 0.5) as CurvePoint
    const metrics = { capacity, p50: half.p50, p99: half.p99, p999: half.p999 }
    return { status: 'measured', metrics, flags: [], commands, series: { curve } }
  })
}

/** The highest rate with p99.9 within the limit, by halving between none and the capacity. */
export function measureHighest(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'highest') throw new TypeError('not a search for the highest rate')
  const { limit } = variant.measure
  return withServer(assignment, async (server) => {
    const commands = [server.command]
    const capacity = await capacityOf(server, assignment, commands)
    let low = 0
    let high = capacity
    let best: LoadResult | null = null
    for (let step = 0; step < (method.quick ? quickSteps : steps); step += 1) {
      const rate = Math.round((low + high) / 2)
      const result = await openLoop(server, assignment, rate, commands)
      const within = result.p999 !== null && result.p999 <= limit && result.unfinished <= rate / 1_000
      if (within) {
        low = rate
        best = result
      } else high = rate
    }
    const metrics = {
      highest: low,
      capacity,
      ...(best !== null && { p50: best.p50 as number, p99: best.p99 as number, p999: best.p999 as number }),
    }
    return { status: 'measured', metrics, flags: [], commands }
  })
}

/** Right replies within the limit, per second, when more is asked than the server can do. */
export function measureOverload(assignment: Assignment): Promise<Finding> {
  const { variant } = assignment
  if (variant.measure.kind !== 'overload') throw new TypeError('not an overload')
  const { factor, limit } = variant.measure
  return withServer(assignment, async (server) => {
    const commands = [server.command]
    const capacity = await capacityOf(server, assignment, commands)
    const result = await openLoop(server, assignment, Math.round(capacity * factor), commands)
    const inTime = (result.histogram ?? []).reduce(
      (sum, [from, count]) => sum + (from / 1e3 <= limit ? count : 0),
      0,
    )
    // Unfinished requests stand in the histogram with the time they had waited: they were not answered.
    const goodput = Math.max(0, inTime - result.unfinished) / result.seconds
    const metrics = {
      capacity,
      goodput,
      goodputShare: (100 * goodput) / capacity,
      errors: result.errors,
      ...(result.p50 !== null && { p50: result.p50, p99: result.p99 as number }),
    }
    return { status: 'measured', metrics, flags: [], commands }
  })
}

/** Requests/s in a closed loop, on the same process. */
async function capacityOf(
  server: RunningServer,
  assignment: Assignment,
  commands: string[],
): Promise<number> {
  const result = await generate(assignment.method, {
    load: loadOf(assignment),
    port: server.port,
    seconds: windowOf(assignment),
  })
  commands.push(result.command)
  if (result.fault !== null) throw new Disqualified(result.fault)
  if (result.requests === 0) throw new Failure(result.gaveUp ?? 'it answered nothing in the window')
  return result.requests / result.seconds
}

async function openLoop(
  server: RunningServer,
  assignment: Assignment,
  rate: number,
  commands: string[],
): Promise<LoadResult> {
  const result = await generate(assignment.method, {
    load: { ...loadOf(assignment), warmup: assignment.method.quick ? 0.1 : 0.3 },
    port: server.port,
    seconds: assignment.method.quick ? Math.min(0.5, windowOf(assignment)) : windowOf(assignment),
    rate,
  })
  commands.push(result.command)
  if (result.fault !== null) throw new Disqualified(result.fault)
  return result
}
