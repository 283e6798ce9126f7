/** A run: its cells are measured one after the other, each written as soon as it is there. */
import { basename } from 'node:path'
import type { Results } from './analysis.ts'
import type { Cell, Run, RunEntry, RunScenario, Settings } from './cell.ts'
import { codeState } from './code-state.ts'
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
import { type Scenario, type Variant, documents } from './scenario.ts'

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
    scenarios: describeScenarios(plan.chosen),
    code: codeState(),
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
    const { histogram: _, ...finding } =
      (await hindrance(task, plan.method, run, checked)) ?? (await measureTask(task, plan, cells, checked))
    const known = task.round > 0 && cells.some((cell) => isAlike(cell, task))
    const cell: Cell = {
      scenario: task.scenario.name,
      variant: task.variant.name,
      lane: task.variant.lane,
      entry: task.label,
      round: task.round,
      ...finding,
      commands: known ? [] : finding.commands.map(withoutFolders),
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

/** An earlier cell has the same commands, but for ports and seeds. */
function isAlike({ entry, scenario, variant, status }: Cell, task: Task): boolean {
  const same = scenario === task.scenario.name && variant === task.variant.name
  return same && entry === task.label && status === 'measured'
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
  // Its replies are the same at any count of connections.
  const key = `${entry.name} ${scenario.name} ${variant.point?.of ?? variant.name}`
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

async function measureTask(
  task: Task,
  plan: Plan,
  cells: readonly Cell[],
  checked: ReadonlyMap<string, string | null>,
): Promise<Finding> {
  const { entry, scenario, variant } = task
  const assignment = { entry, scenario, variant, method: plan.method }
  if (variant.measure.kind !== 'steady') return measure(assignment)
  const rate = await steadyRate(task, plan, cells, checked)
  return measure({ ...assignment, rate })
}

const steadyRates = new WeakMap<Variant, number>()

/**
 * The rate of an open loop that is the same for all entries: that of the cells which are done, else a share of what the
 * slowest entry answers in a closed loop, of two digits. Throws a `Failure` when no entry answers.
 */
async function steadyRate(
  { scenario, variant }: Task,
  { chosen, method }: Plan,
  cells: readonly Cell[],
  checked: ReadonlyMap<string, string | null>,
): Promise<number> {
  const before = cells.find((cell) => cell.scenario === scenario.name && cell.variant === variant.name)
  const known = before?.metrics.offered ?? steadyRates.get(variant)
  if (known !== undefined) return known
  const { measure: wanted } = variant
  if (wanted.kind !== 'steady') throw new TypeError('not an open loop at one rate')
  const closed: Variant = { ...variant, lane: 'plain', measure: { kind: 'load', load: wanted.load } }
  const rates: number[] = []
  for (const one of chosen.filter(({ variants }) => variants.includes(variant))) {
    for (const entry of one.entries) {
      if ((checked.get(`${entry.name} ${scenario.name} ${variant.name}`) ?? null) !== null) continue
      const { metrics } = await measure({ entry, scenario, variant: closed, method })
      if (metrics.rate !== undefined) rates.push(metrics.rate)
    }
  }
  if (rates.length === 0) throw new Failure(`no entry answers ${scenario.name} in a closed loop`)
  const rate = Math.max(10, Number((Math.min(...rates) * wanted.share).toPrecision(2)))
  steadyRates.set(variant, rate)
  return rate
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

/** Each once, with the variants of all its parts. */
export function describeScenarios(chosen: readonly Chosen[]): RunScenario[] {
  return [...new Set(chosen.map(({ scenario }) => scenario))].map((scenario) => {
    const variants = chosen.filter((one) => one.scenario === scenario).flatMap((one) => one.variants)
    return describeScenario(scenario, [...new Map(variants.map((one) => [one.name, one])).values()])
  })
}

function describeScenario(scenario: Scenario, variants: readonly Variant[]): RunScenario {
  const { name, title, about, document, headline } = scenario
  return {
    name,
    title,
    about,
    document: document && { name: documents[document.name], command: document.command },
    kind: kindOf(scenario),
    variants: variants.map(({ name: variant, lane, point, transport }) => ({
      name: variant,
      lane,
      ...(point && { point }),
      ...(transport && { transport }),
    })),
    headline,
  }
}

function kindOf({ variants }: Scenario): string {
  return variants[0]?.measure.kind ?? 'load'
}
