/** A closed loop: what the server needs for a request when it is never without one. */
import { silenceOf } from '../conformance.ts'
import type { LoadResult } from '../generators/generator.ts'
import { flagsOf, littleFault } from '../guards.ts'
import type { MetricName } from '../metrics.ts'
import { type CpuReading, cpuBetween, hasExactCpu, readCpu, readMemory } from '../readings.ts'
import {
  type Assignment,
  Disqualified,
  type Finding,
  generate,
  loadOf,
  windowOf,
  withServer,
} from './measurement.ts'

export function measureLoad(assignment: Assignment): Promise<Finding> {
  const { entry, variant } = assignment
  return withServer(assignment, async (server) => {
    const load = loadOf(assignment)
    const edges: { cpu: CpuReading; at: number }[] = []
    let memory = 0
    const before = entry.javascript ? ((await server.ran()) ?? 0) : 0
    const result = await generate(assignment.method, {
      load,
      port: server.port,
      seconds: windowOf(assignment),
      onWarm: () => void edges.push({ cpu: readCpu(server.pid), at: performance.now() }),
      onMeasured: () => {
        edges.push({ cpu: readCpu(server.pid), at: performance.now() })
        memory = readMemory(server.pid)
      },
    })
    if (result.fault !== null) throw new Disqualified(result.fault)
    const commands = [server.command, result.command]
    if (result.gaveUp !== null) return failed(`it stopped answering: ${result.gaveUp}`, commands)
    const [first, last] = edges
    if (result.requests === 0 || !first || !last) {
      const silence = await silenceOf(server.port)
      const busy =
        'nothing was answered in the window, and it answers now: a longer --window, a quieter machine'
      return failed(silence === null ? busy : `it stopped answering: ${silence}`, commands)
    }
    if (entry.javascript) {
      const after = await server.ran()
      if (after === null) {
        const silence = await silenceOf(server.port)
        if (silence !== null) return failed(`it stopped answering: ${silence}`, commands)
        throw new Disqualified('it does not say how often its handlers ran (entries/ran.mjs)')
      }
      if (after - before < result.replies) {
        throw new Disqualified(
          `its handlers ran ${after - before} times for ${result.replies} replies: it answers without them`,
        )
      }
    }
    const cpu = cpuBetween(first.cpu, last.cpu)
    const seconds = (last.at - first.at) / 1e3
    const busy = cpu.running / 1e9 / seconds
    const waited = cpu.waiting / 1e9 / seconds
    const atOnce = load.connections * load.pipelining
    const flags = flagsOf({ busy, waited })
    if (!hasExactCpu()) flags.push('coarse')
    const metrics = {
      // What is not 2xx is right here when the scenario says so: then it is not counted against the server.
      ...latencies(result),
      cpu: cpu.running / 1e3 / result.requests,
      rate: result.requests / result.seconds,
      errors: result.errors,
      non2xx: result.non2xx,
      rss: memory / 1e6,
      busy: busy * 100,
      waited: waited * 100,
      requests: result.requests,
    }
    const little = littleFault(result, atOnce)
    const checked = load.connection === 'keep-alive' && variant.lane !== 'new connections'
    const share = little.share === null ? {} : { little: little.share }
    return {
      status: checked && little.fault !== null ? ('discarded' as const) : ('measured' as const),
      ...(checked && little.fault !== null && { reason: little.fault }),
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

export function failed(reason: string, commands: readonly string[]): Finding {
  return { status: 'failed', reason, metrics: {}, flags: [], commands }
}
