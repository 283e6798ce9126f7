/** A run: its cells are measured one after the other, each written as soon as it is there. */
import { basename } from 'node:path'
import type { Results } from './analysis.ts'
import type { Cell, Run, RunEntry, RunScenario, Settings } from './cell.ts'
import { conformance } from './conformance.ts'
import { stepAside } from './cores.ts'
import type { Entry } from './entry.ts'
import { Failure } from './failure.ts'
import { rootFolder } from './folders.ts'
import { installEntry, installedVersion, runtimeOf } from './install.ts'
import { describeMachine } from './machine.ts'
import { measure } from './measures/index.ts'
import type { Finding, Method } from './measures/measurement.ts'
import type { Progress } from './progress.ts'
import { type Chosen, type Task, schedule } from './schedule.ts'
import { type Scenario, documents } from './scenario.ts'

export interface Plan {
  readonly name: string
  readonly command: readonly string[]
  readonly chosen: readonly Chosen[]
  readonly method: Method
  readonly rounds: number
  readonly seed: number
}

/** Packages are installed, versions read. An entry that cannot be installed has an error, and its cells say so. */
export async function describeRun(plan: Plan): Promise<Run> {
  const { method } = plan
  const entries: RunEntry[] = []
  for (const entry of entriesOf(plan)) entries.push(await describeEntry(entry))
  const settings: Settings = {
    rounds: plan.rounds,
    warmup: method.warmup,
    window: method.window,
    generator: method.generator,
    seed: plan.seed,
    cores: method.cores.label,
    quick: method.quick,
  }
  return {
    format: 1,
    name: basename(plan.name),
    startedAt: new Date().toISOString(),
    command: plan.command,
    machine: describeMachine(),
    settings,
    entries,
    scenarios: plan.chosen.map(describeScenario),
  }
}

/**
 * Measures what `done` does not hold yet; `keep` is called with every cell. Throws a `Failure` when nothing more can be
 * measured, a dead generator or a port in use: what was kept is whole.
 */
export async function execute(
  plan: Plan,
  run: Run,
  done: readonly Cell[],
  keep: (cell: Cell) => void,
  progress: Progress,
): Promise<Results> {
  const cells = [...done]
  const tasks = schedule(plan.chosen, plan.rounds, plan.seed)
  const left = tasks.filter((task) => !isDone(task, cells))
  progress.begin(left, tasks.length)
  stepAside(plan.method.cores)
  const checked = new Map<string, string | null>()
  for (const task of left) {
    if (isDone(task, cells)) {
      progress.skip(task)
      continue
    }
    progress.next(task)
    const began = performance.now()
    const at = new Date().toISOString()
    const finding =
      (await hindrance(task, plan.method, run, checked)) ?? (await measureTask(task, plan.method))
    const cell: Cell = {
      scenario: task.scenario.name,
      variant: task.variant.name,
      lane: task.variant.lane,
      entry: task.label,
      round: task.round,
      ...finding,
      commands: finding.commands.map(withoutFolders),
      at,
      took: (performance.now() - began) / 1e3,
    }
    cells.push(cell)
    keep(cell)
    progress.done(cell)
  }
  progress.end()
  return { run, cells }
}

/** Seen from the repository's root, so that a result is the same wherever it was measured. */
function withoutFolders(command: string): string {
  return command.replaceAll(`${rootFolder}/`, '').replaceAll(process.execPath, 'node')
}

/** Measured, or told once why it cannot be: a server that did other work is not measured in further rounds. */
function isDone(task: Task, cells: readonly Cell[]): boolean {
  return (
    cells.some(
      (cell) =>
        cell.entry === task.label &&
        cell.scenario === task.scenario.name &&
        cell.variant === task.variant.name &&
        (cell.round === task.round || cell.status === 'disqualified'),
    ) || failures(task, cells) >= mostFailures
  )
}

/** A server that failed so often in a variant is not tried again there. */
const mostFailures = 2

function failures({ label, scenario, variant }: Task, cells: readonly Cell[]): number {
  return cells.filter(
    ({ entry, scenario: name, variant: variantName, status }) =>
      entry === label && name === scenario.name && variantName === variant.name && status === 'failed',
  ).length
}

/** Why it is not measured: not installed, or other work than it was asked for. Checked once for each variant. */
async function hindrance(
  { entry, scenario, variant }: Task,
  method: Method,
  run: Run,
  checked: Map<string, string | null>,
): Promise<Finding | null> {
  const error = run.entries.find((one) => one.name === entry.name)?.error
  const nothing = { metrics: {}, flags: [], commands: [] } as const
  if (error !== undefined) return { status: 'failed', reason: error, ...nothing }
  const key = `${entry.name} ${scenario.name} ${variant.name}`
  if (!checked.has(key)) {
    try {
      checked.set(key, await conformance(entry, scenario, variant, method.cores.server, method.port))
    } catch (failure) {
      if (failure instanceof Failure && failure.exitCode === 2) throw failure
      return { status: 'failed', reason: (failure as Error).message, ...nothing }
    }
  }
  const fault = checked.get(key) ?? null
  return fault === null ? null : { status: 'disqualified', reason: fault, ...nothing }
}

function measureTask({ entry, scenario, variant }: Task, method: Method): Promise<Finding> {
  return measure({ entry, scenario, variant, method })
}

function entriesOf({ chosen }: Plan): Entry[] {
  const found = new Map(chosen.flatMap(({ entries }) => entries.map((entry) => [entry.name, entry] as const)))
  return [...found.values()]
}

async function describeEntry(entry: Entry): Promise<RunEntry> {
  const { name, title, about, package: packageName, adapter, javascript } = entry
  const common = { name, title, about, package: packageName, adapter, javascript }
  try {
    await installEntry(entry)
    return { ...common, version: installedVersion(entry), runtime: runtimeOf(entry) }
  } catch (error) {
    return {
      ...common,
      version: entry.version ?? '',
      runtime: entry.runtime,
      error: (error as Error).message,
    }
  }
}

function describeScenario({ scenario, variants }: Chosen): RunScenario {
  const { name, title, about, document, headline } = scenario
  return {
    name,
    title,
    about,
    document: document && { name: documents[document.name], command: document.command },
    kind: kindOf(scenario),
    variants: variants.map((variant) => ({ name: variant.name, lane: variant.lane })),
    headline,
  }
}

function kindOf({ variants }: Scenario): string {
  return variants[0]?.measure.kind ?? 'load'
}
