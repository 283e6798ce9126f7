/** The method: interleaved rounds of short measurements, each with a fresh server process. */
import { checkReplies } from './check.ts'
import type { Cores } from './cores.ts'
import { cpuBetween, readCpu, readMemory } from './readings.ts'
import type { Entry } from './roster.ts'
import { startServer } from './server.ts'
import { runWrk } from './wrk.ts'

export const lanes = ['plain', 'pipelined'] as const
export type Lane = (typeof lanes)[number]

export interface Method {
  readonly rounds: number
  /** Seconds of load before the measured window, and of the window. */
  readonly warmup: number
  readonly window: number
  readonly connections: number
  /** Requests at once on a connection, in the pipelined lane. */
  readonly depth: number
  readonly lanes: readonly Lane[]
  readonly cores: Cores
}

/** One side of the comparison. An entry that is named twice gets two labels: the difference is the noise. */
export interface Side {
  readonly label: string
  readonly entry: Entry
}

/** One measurement. Times in the unit of their name. */
export interface Sample {
  readonly round: number
  readonly lane: Lane
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

export function sidesOf(entries: readonly Entry[]): Side[] {
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    const count = (seen.get(entry.name) ?? 0) + 1
    seen.set(entry.name, count)
    return { label: count > 1 ? `${entry.name}#${count}` : entry.name, entry }
  })
}

/** Starts every server once and checks it, so that a run does not fail in its last minute. */
export async function rehearse(sides: readonly Side[], method: Method): Promise<void> {
  for (const { entry } of sides) {
    const server = await startServer(entry, method.cores.server)
    await checkReplies(entry, server.port, method.depth)
    await server.stop()
  }
}

/** Every second round runs backwards (A B, B A, …), so that a drift of the machine favours nobody. */
export async function measure(
  sides: readonly Side[],
  method: Method,
  progress: (round: number, lane: Lane, server: string) => void,
): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let round = 0; round < method.rounds; round += 1) {
    const order = round % 2 ? sides.toReversed() : sides
    for (const lane of method.lanes) {
      for (const side of order) {
        progress(round, lane, side.label)
        samples.push(await measureOnce(side, lane, round, method))
      }
    }
  }
  return samples
}

async function measureOnce(side: Side, lane: Lane, round: number, method: Method): Promise<Sample> {
  const server = await startServer(side.entry, method.cores.server)
  const replyBytes = await checkReplies(side.entry, server.port, method.depth)
  const load = {
    port: server.port,
    connections: method.connections,
    depth: lane === 'pipelined' ? method.depth : 1,
    core: method.cores.generator,
  }
  await runWrk({ ...load, seconds: method.warmup })
  const before = readCpu(server.pid)
  const result = await runWrk({ ...load, seconds: method.window })
  const cpu = cpuBetween(before, readCpu(server.pid))
  const memoryBytes = readMemory(server.pid)
  await server.stop()
  return {
    round,
    lane,
    server: side.label,
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
