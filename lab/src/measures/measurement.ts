/** What every kind of measurement is given, and what it gives back. */
import type { Cell } from '../cell.ts'
import type { GeneratorName } from '../cell.ts'
import type { Cores } from '../cores.ts'
import { withCredentials } from '../credentials.ts'
import type { Entry } from '../entry.ts'
import { runForeign } from '../generators/foreign.ts'
import { runH2load } from '../generators/h2load.ts'
import type { Job, LoadResult } from '../generators/generator.ts'
import { runLoad } from '../generators/load.ts'
import { runSockets } from '../generators/sockets.ts'
import { tryProof } from '../proof.ts'
import type { Scenario, Variant } from '../scenario.ts'
import { type RunningServer, startServer } from '../server.ts'

export interface Assignment {
  readonly entry: Entry
  readonly scenario: Scenario
  readonly variant: Variant
  readonly method: Method
  /** Of an open loop at one rate for all entries, requests/s. */
  readonly rate?: number
}

export interface Method {
  /** s; null: what the scenario says. */
  readonly warmup: number | null
  readonly window: number
  /** True when the window was asked for, and goes before what a scenario says. */
  readonly windowAsked: boolean
  readonly generator: GeneratorName
  readonly cores: Cores
  /** 0: any that is free. */
  readonly port: number
  readonly quick: boolean
  /** Warm-up and window by two runs of our generator, each on connections of its own, as the others need it. */
  readonly apart?: boolean
  /** Of a soak, s; null: what the scenario says. */
  readonly soak: number | null
  /** A request that is not answered within this time has failed, in s; default 5. */
  readonly timeout?: number
}

/** A cell without what the run knows of it. */
export type Finding = Pick<Cell, 'status' | 'metrics' | 'flags' | 'commands'> &
  Partial<Pick<Cell, 'reason' | 'series'>> & {
    /** Latency: from so many µs on, so many requests; about 3 % wide each. It is too long to be kept in a cell. */
    readonly histogram?: LoadResult['histogram']
  }

/** Runs `measure` against a fresh process, and ends it whatever happens. */
export async function withServer<T>(
  { entry, scenario, variant, method }: Assignment,
  measure: (server: RunningServer, commands: string[]) => Promise<T>,
): Promise<T> {
  const server = await startServer({
    entry,
    program: scenario.program,
    core: method.cores.server,
    port: method.port,
    ...(variant.environment && { environment: variant.environment }),
    traced: variant.spans !== undefined,
    ...(variant.transport && { transport: variant.transport }),
  })
  const commands = [server.command]
  let result: T
  try {
    if (variant.prelude) {
      const fault = await tryProof(server.port, variant.prelude, variant.transport)
      if (fault !== null) throw new Disqualified(fault)
    }
    result = await measure(server, commands)
  } catch (error) {
    if (error instanceof Disqualified || error instanceof Broken) error.commands = commands
    await server.stop().catch(() => undefined)
    throw error
  }
  await server.stop()
  return result
}

/** The server did other work than it was asked for. */
export class Disqualified extends Error {
  commands: readonly string[] = []
}

/** The server could not be measured. */
export class Broken extends Error {
  commands: readonly string[] = []
}

export async function generate(method: Method, job: Omit<Job, 'core'>): Promise<LoadResult> {
  const load = await withCredentials(job.load, job.port)
  const { timeout } = method
  const pinned = { ...job, load, core: method.cores.generator, ...(timeout !== undefined && { timeout }) }
  if (job.sockets !== undefined) return runSockets(pinned)
  if (job.transport !== undefined) return runH2load(pinned, job.transport)
  if (method.generator !== 'load') return runForeign(method.generator, pinned)
  return method.apart ? runApart(pinned) : runLoad(pinned)
}

async function runApart({ onWarm, onMeasured, ...job }: Job): Promise<LoadResult> {
  const load = { ...job.load, warmup: 0 }
  const { replies } = await runLoad({ ...job, load, seconds: job.load.warmup })
  const measured = { ...(onWarm && { onWarm }), ...(onMeasured && { onMeasured }) }
  const result = await runLoad({ ...job, load, ...measured })
  return { ...result, replies: result.replies + replies }
}

/** The load of a variant with the warm-up that the run asked for. */
export function loadOf({ variant, method }: Assignment) {
  const { load } = variant.measure
  const warmup = method.warmup ?? (method.quick ? Math.min(load.warmup, 0.5) : load.warmup)
  return { ...load, warmup }
}

export function windowOf({ variant, method }: Assignment): number {
  return method.windowAsked ? method.window : (variant.measure.load.window ?? method.window)
}
