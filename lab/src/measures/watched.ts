/** A load under watch: what the server's threads ran meanwhile, and every guard that can tell a wrong figure. */
import type { Flag } from '../cell.ts'
import { logOf } from '../conformance.ts'
import type { Job, LoadResult } from '../generators/generator.ts'
import { flagsOf, handlersFault } from '../guards.ts'
import { type CpuReading, cpuBetween, hasExactCpu, readCpu, readMemory } from '../readings.ts'
import { silenceOf } from '../proof.ts'
import type { Load } from '../scenario.ts'
import type { RunningServer } from '../server.ts'
import { type Assignment, Broken, Disqualified, generate } from './measurement.ts'

export interface Watched {
  readonly result: LoadResult
  /** User and system time of the window, s. */
  readonly cpu: number
  /** The time between the two readings of the CPU time, in s. */
  readonly elapsed: number
  /** Shares of the window: the server's threads ran, and the busiest of them waited for its core. */
  readonly busy: number
  readonly waited: number
  readonly flags: readonly Flag[]
  /** At the end of the window, while its connections were open, bytes. */
  readonly memory: number
}

export interface Watch {
  readonly load: Load
  /** Of the window, s. */
  readonly seconds: number
  /** Open loop, requests/s. */
  readonly rate?: number
  /** Replies within it are counted, ms. */
  readonly limit?: number
  readonly sockets?: Job['sockets']
}

/** How long the request log may take to be written, ms. */
const logPatience = 3_000
/** How long spans may take to arrive, ms. */
const exportPatience = 10_000

/**
 * Throws `Disqualified` for replies that were not right, that no handler made, or that were not logged where they must
 * be, and `Broken` when the server stopped answering. `commands` gets the generator's.
 */
export async function watch(
  server: RunningServer,
  { entry, scenario, variant, method }: Assignment,
  { load, seconds, rate, limit, sockets }: Watch,
  commands: string[],
): Promise<Watched> {
  const edges: { cpu: CpuReading; at: number }[] = []
  let memory = 0
  const counted = entry.javascript && variant.handler !== false
  const before = counted ? ((await server.ran()) ?? 0) : 0
  const line = logOf(scenario, variant)
  const logged = line === null ? 0 : server.logged(line)
  const exported = server.spans()
  const result = await generate(method, {
    load,
    port: server.port,
    seconds,
    ...(rate !== undefined && { rate }),
    ...(limit !== undefined && { limit }),
    ...(sockets !== undefined && { sockets }),
    ...(variant.transport !== undefined && { transport: variant.transport }),
    onWarm: () => void edges.push({ cpu: readCpu(server.pid, server.mark), at: performance.now() }),
    onMeasured: () => {
      edges.push({ cpu: readCpu(server.pid, server.mark), at: performance.now() })
      memory = readMemory(server.pid, server.mark)
    },
  })
  commands.push(result.command)
  if (result.fault !== null) throw new Disqualified(result.fault)
  if (result.gaveUp !== null) throw new Broken(`it stopped answering: ${result.gaveUp}`)
  if (result.ungreeted > 0) {
    throw new Broken(
      `${result.ungreeted} of ${load.connections} connections were not answered before the load`,
    )
  }
  const [first, last] = edges
  if (result.requests === 0 || !first || !last) {
    const silence = await silenceOf(server.port, variant.transport)
    throw new Broken(
      silence === null
        ? 'nothing was answered in the window, and it answers now: a longer --window, a quieter machine'
        : `it stopped answering: ${silence}`,
    )
  }
  if (counted) await proveHandlers(server, before, result)
  if (line !== null) await proveLog(server, line, logged + result.replies)
  if (variant.spans !== undefined)
    await proveSpans(server, variant.spans === 'each' ? result.replies : 0, exported)
  const cpu = cpuBetween(first.cpu, last.cpu)
  if (cpu.running === 0 && hasExactCpu())
    throw new Disqualified('its processes used no CPU time: another process answers for it')
  // Other generators are started and ended between the two readings: their own time is that of the window.
  const elapsed = method.generator === 'load' ? (last.at - first.at) / 1e3 : result.seconds
  const busy = cpu.running / 1e9 / elapsed
  const waited = cpu.waiting / 1e9 / elapsed
  const flags: Flag[] = [...flagsOf({ busy, waited }), ...(hasExactCpu() ? [] : (['coarse'] as const))]
  return { result, cpu: cpu.running / 1e9, elapsed, busy, waited, flags, memory }
}

async function proveHandlers(server: RunningServer, before: number, result: LoadResult): Promise<void> {
  const after = await server.ran()
  if (after === null) {
    const silence = await silenceOf(server.port)
    if (silence !== null) throw new Broken(`it stopped answering: ${silence}`)
    throw new Disqualified('it does not say how often its handlers ran (entries/ran.mjs)')
  }
  const fault = handlersFault(after - before, result)
  if (fault !== null) throw new Disqualified(fault)
}

async function proveLog(server: RunningServer, line: RegExp, wanted: number): Promise<void> {
  const deadline = performance.now() + logPatience
  let lines = server.logged(line)
  while (lines < wanted && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    lines = server.logged(line)
  }
  if (lines < wanted) throw new Disqualified(`its log has ${lines} lines for ${wanted} requests`)
}

/** As many spans must arrive, or none. */
async function proveSpans(server: RunningServer, wanted: number, before: number): Promise<void> {
  const deadline = performance.now() + exportPatience
  while (server.spans() - before < wanted && performance.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 100))
  const spans = server.spans() - before
  if (wanted === 0 ? spans > 0 : spans < wanted)
    throw new Disqualified(`${spans} spans of requests arrived, where ${wanted} were to be exported`)
}
