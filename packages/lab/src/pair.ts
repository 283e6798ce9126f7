/** The method: interleaved rounds of short measurements, each with a fresh server process. */
import { checkReplies } from './check.ts'
import type { Cores } from './cores.ts'
import { Failure } from './failure.ts'
import { cpuBetween, readCpu, readMemory } from './readings.ts'
import { type Entry, serves } from './roster.ts'
import type { Scenario } from './scenario.ts'
import { startServer } from './server.ts'
import { runWrk } from './wrk.ts'

export const lanes = ['plain', 'pipelined'] as const
export type Lane = (typeof lanes)[number]

export interface Method {
  readonly rounds: number
  /** Seconds of load before the measured window; null is what the scenario says. */
  readonly warmup: number | null
  /** Seconds that are measured. */
  readonly window: number
  readonly connections: number
  /** Requests at once on a connection, in the pipelined lane. */
  readonly depth: number
  readonly cores: Cores
}

/** One side of the comparison. An entry that is named twice gets two labels: the difference is the noise. */
export interface Side {
  readonly label: string
  readonly entry: Entry
  readonly scenario: Scenario
}

/** What is measured one after the other and compared: the first side is the base. */
export interface Group {
  readonly lane: Lane
  readonly sides: readonly Side[]
}

/** One measurement. Times in the unit of their name. */
export interface Sample {
  readonly round: number
  readonly lane: Lane
  readonly scenario: string
  readonly server: string
  /** User and system time of the server, with all its threads and children, over requests answered. */
  readonly cpuMicrosecondsPerRequest: number
  readonly cpuSeconds: number
  /** CPU time over the window: the share of its core the server used. */
  readonly busy: number
  /** Share of the window its busiest thread had to wait for the core, which others used. */
  readonly waited: number
  readonly requests: number
  readonly seconds: number
  readonly requestsPerSecond: number
  /** Null with pipelining: wrk times batches but corrects them as if they were requests, so its percentiles are wrong. */
  readonly p50Microseconds: number | null
  readonly p99Microseconds: number | null
  readonly memoryBytes: number
  readonly non2xx: number
  readonly socketErrors: number
  readonly replyBytes: number
}

/** Throws a `Failure` when an entry does not serve the scenario. */
export function sidesOf(entries: readonly Entry[], scenario: Scenario): Side[] {
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    if (!serves(entry, scenario)) throw new Failure(`${entry.name} does not serve ${scenario.name}`, 2)
    const count = (seen.get(entry.name) ?? 0) + 1
    seen.set(entry.name, count)
    return { label: count > 1 ? `${entry.name}#${count}` : entry.name, entry, scenario }
  })
}

/** Starts every server once and checks it, so that a run does not fail in its last minute. */
export async function rehearse(groups: readonly Group[], method: Method): Promise<void> {
  const done = new Set<string>()
  for (const { entry, scenario } of groups.flatMap(({ sides }) => sides)) {
    const key = `${entry.name} ${scenario.name}`
    if (done.has(key)) continue
    done.add(key)
    const server = await startServer(entry, scenario.program, method.cores.server)
    await checkReplies(entry, scenario, server.port, method.depth)
    await server.stop()
  }
}

/** Every second round runs backwards (A B, B A, …), so that a drift of the machine favours nobody. */
export async function measureRound(
  round: number,
  groups: readonly Group[],
  method: Method,
  progress: (side: Side, lane: Lane) => void,
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (const { lane, sides } of groups) {
    for (const side of round % 2 ? sides.toReversed() : sides) {
      progress(side, lane)
      samples.push(await measureOnce(side, lane, round, method))
    }
  }
  return samples
}

async function measureOnce(side: Side, lane: Lane, round: number, method: Method): Promise<Sample> {
  const { label, entry, scenario } = side
  const server = await startServer(entry, scenario.program, method.cores.server)
  const replyBytes = await checkReplies(entry, scenario, server.port, method.depth)
  const load = {
    port: server.port,
    path: scenario.exchange.path,
    headers: scenario.exchange.headers ?? {},
    connections: method.connections,
    depth: lane === 'pipelined' ? method.depth : 1,
    core: method.cores.generator,
  }
  await runWrk({ ...load, seconds: method.warmup ?? scenario.warmup })
  const before = readCpu(server.pid)
  const result = await runWrk({ ...load, seconds: method.window })
  const cpu = cpuBetween(before, readCpu(server.pid))
  const memoryBytes = readMemory(server.pid)
  await server.stop()
  return {
    round,
    lane,
    scenario: scenario.name,
    server: label,
    cpuMicrosecondsPerRequest: cpu.running / 1e3 / result.requests,
    cpuSeconds: cpu.running / 1e9,
    busy: cpu.running / 1e9 / result.seconds,
    waited: cpu.waiting / 1e9 / result.seconds,
    requests: result.requests,
    seconds: result.seconds,
    requestsPerSecond: result.requestsPerSecond,
    p50Microseconds: load.depth > 1 ? null : result.p50,
    p99Microseconds: load.depth > 1 ? null : result.p99,
    memoryBytes,
    non2xx: result.non2xx,
    socketErrors: result.socketErrors,
    replyBytes,
  }
}
