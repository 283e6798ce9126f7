import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Results } from '../analysis.ts'
import { type Arguments, type Options, count, names, readArguments, text } from '../arguments.ts'
import { barLines } from '../bar-table.ts'
import type { Cell, GeneratorName } from '../cell.ts'
import {
  chosenEntries,
  chosenScenarios,
  combine,
  connectionsOf,
  methodHelp,
  methodOf,
  methodOptions,
} from '../choice.ts'
import { collectCriterion } from '../criterion.ts'
import { readEntries } from '../entry.ts'
import { Failure } from '../failure.ts'
import { onlyRequest } from '../generators/generator.ts'
import { partsOf, presetOf } from '../presets.ts'
import { duration, secondsOfAll, terminalProgress } from '../progress.ts'
import { type Plan, describeRun, execute } from '../runner.ts'
import { schedule } from '../schedule.ts'
import { appendCell, createRun, keepOnly, readFinished, runFolder, writeRun } from '../store.ts'
import { styleFor } from '../style.ts'
import { documentFiles, targetLines } from '../targets.ts'
import { resultLines } from '../terminal-tables.ts'
import type { Command } from './command.ts'

const help = `usage: npm run lab -- run [options]

Measures scenarios on entries and keeps every cell in lab/results/<name>/ as soon as it is there.

  --scenarios A,B   of npm run lab -- list; A:variant takes one variant (all)
  --entries A,B     of npm run lab -- list; named twice is measured twice (all)
  --connections N,N plain closed loops at each of these counts of connections (what the scenario says)
  --preset core     the scenarios, points and entries of the published tables, in half an hour; batteries those of what
                    middleware, folders and forms cost, in ten minutes; services those of what headers, logs, sessions,
                    tokens and traces cost, in twelve
  --name NAME       of the run (the date and time)
  --resume NAME     goes on with a run that was interrupted: only what is missing or failed is measured
  --quick           one round, windows of 1 s, less of everything: to see that all works, not to publish
  --plan            prints what would be measured and how long it takes, and measures nothing
  --criterion       runs cargo bench of the parser and the router too, and keeps what it found
${methodHelp}

examples
  npm run lab -- run --quick
  npm run lab -- run --scenarios ramapi-json,zapjs-mixed --entries native,uws,fastify --rounds 5
  npm run lab -- run --scenarios nessen-soak --entries native --soak 60
  npm run lab -- run --scenarios ramapi-json:plain --entries native,fastify --node 20,22,24,26
  BENCH_PORT=3030 BENCH_DURATION=10 BENCH_CONNECTIONS=100 npm run lab -- run \\
    --scenarios veloxts-throughput,veloxts-latency,veloxts-memory,veloxts-startup --entries native,fastify

Exit code 2 when an entry could not be started or died; its cells say why, and the others are kept.`

const options: Options = {
  ...methodOptions,
  scenarios: { type: 'string' },
  entries: { type: 'string' },
  preset: { type: 'string' },
  name: { type: 'string' },
  resume: { type: 'string' },
  quick: { type: 'boolean' },
  plan: { type: 'boolean' },
  criterion: { type: 'boolean' },
}

export const run: Command = {
  name: 'run',
  about: 'measures scenarios on entries; every cell is kept',
  help,
  async run(argv) {
    const args = readArguments('run', argv, options)
    const resumed = text(args, 'resume')
    if (args.positionals.length > 0)
      throw new Failure(`run takes options only, not ${args.positionals[0]}: --scenarios, --entries`, 2)
    if (resumed !== undefined) {
      const more = Object.keys(args.values).find((name) => name !== 'resume')
      if (more !== undefined)
        throw new Failure(`--resume goes on as the run was begun: leave out --${more}`, 2)
      return resume(resumed)
    }
    const plan = planOf(args, argv)
    if (args.values['plan'] === true) return printPlan(plan)
    const folder = runFolder(plan.name)
    const description = await describeRun(plan)
    createRun(folder, description)
    return finish(folder, plan, description, [], args.values['criterion'] === true)
  },
}

export function planOf(args: Arguments, argv: readonly string[]): Plan {
  const quick = args.values['quick'] === true
  const presetName = text(args, 'preset')
  const preset = presetName === undefined ? null : presetOf(presetName)
  const wrong = ['scenarios', 'entries', 'connections', 'node', 'quick'].find(
    (name) => preset !== null && args.values[name] !== undefined,
  )
  if (wrong !== undefined) throw new Failure(`--preset says what is measured: leave out --${wrong}`, 2)
  const chosen = preset === null ? chosenOf(args, quick) : partsOf(preset, readEntries())
  if (chosen.length === 0) throw new Failure('none of these entries serves any of these scenarios', 2)
  const method = methodOf(args, quick, preset ?? {})
  requireRepeatable(method.generator, chosen)
  return {
    name: text(args, 'name') ?? new Date().toISOString().slice(0, 16).replace(/[T:]/g, '-'),
    command: argv,
    chosen,
    method,
    rounds: count(args, 'rounds', quick ? 1 : (preset?.rounds ?? 5), 1_000),
    seed: count(args, 'seed', Math.floor(Math.random() * 1e6), 2 ** 31 - 1, 0),
  }
}

function chosenOf(args: Arguments, quick: boolean): Plan['chosen'] {
  const wanted = chosenScenarios(names(args, 'scenarios'), quick, connectionsOf(args))
  return combine(wanted, chosenEntries(args, names(args, 'entries')), !quick)
}

/** Throws a `Failure` when another generator is asked for what only ours can send. */
function requireRepeatable(generator: GeneratorName, chosen: Plan['chosen']): void {
  if (generator === 'load') return
  for (const { variants } of chosen) {
    for (const { measure } of variants) if (measure.kind !== 'startup') onlyRequest(generator, measure.load)
  }
}

function printPlan(plan: Plan): number {
  const tasks = schedule(plan.chosen, plan.rounds, plan.seed)
  for (const { scenario, variants, entries } of plan.chosen) {
    console.log(
      `${scenario.name} (${variants.map(({ name }) => name).join(', ')}): ${entries.map(({ name }) => name).join(' ')}`,
    )
  }
  console.log(`${tasks.length} cells, about ${duration(secondsOfAll(tasks, plan.method))}`)
  return 0
}

async function resume(name: string): Promise<number> {
  const folder = runFolder(name)
  const { run: before, cells } = readFinished(folder)
  const args = readArguments('run', before.command, options)
  const plan = { ...planOf(args, before.command), name: before.name, seed: before.settings.seed }
  // Versions and machine must be those of the cells that are kept.
  const now = await describeRun(plan)
  const changed = (['cpu', 'kernel', 'node'] as const).find((key) => now.machine[key] !== before.machine[key])
  if (changed !== undefined) {
    throw new Failure(
      `${changed} was ${before.machine[changed]} and is ${now.machine[changed]}: what is measured now cannot be compared with the cells of ${name}; begin another run`,
      2,
    )
  }
  const other = now.entries.find(({ name: entry, version }) => {
    const then = before.entries.find((one) => one.name === entry)
    return then !== undefined && then.package !== null && then.version !== version
  })
  if (other !== undefined) {
    throw new Failure(
      `${other.name} has another version (${other.version}) than in ${name}: begin another run`,
      2,
    )
  }
  const commit = now.machine.commit
  if (commit !== before.machine.commit) {
    console.error(
      `lab: commit was ${before.machine.commit} and is ${commit}: the cells of this run are of both`,
    )
  }
  const description = {
    ...before,
    entries: now.entries,
    resumed: [...(before.resumed ?? []), { at: new Date().toISOString(), commit, code: now.code }],
  }
  keepOnly(folder, cells)
  const missing = args.values['criterion'] === true && before.criterion === undefined
  return finish(folder, plan, description, cells, missing)
}

async function finish(
  folder: string,
  plan: Plan,
  description: Results['run'],
  done: readonly Cell[],
  criterion: boolean,
): Promise<number> {
  if (plan.method.cores.server === null) console.error(`lab: ${plan.method.cores.label}`)
  console.error(`Cells are kept in ${folder}; interrupted, the run goes on with --resume ${basename(folder)}`)
  writeRun(folder, description)
  let results: Results
  try {
    results = await execute(
      plan,
      description,
      done,
      (cell) => appendCell(folder, cell),
      terminalProgress(plan.method),
    )
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(
      `${error.message} (finished cells are kept: npm run lab -- run --resume ${basename(folder)})`,
      2,
    )
  }
  const style = styleFor(process.stdout.isTTY === true)
  for (const line of [
    ...resultLines(results, style),
    ...barLines(results.cells, results.run.settings.rounds, style),
    ...targetLines(results, style),
  ])
    console.log(line)
  if (plan.chosen.some(({ scenario }) => scenario.document?.name === 'veloxts')) {
    for (const [file, content] of documentFiles(results)) writeFileSync(join(folder, file), content)
  }
  if (criterion) writeRun(folder, { ...results.run, criterion: await collectCriterion() })
  return failures(results)
}

/** 2 when an entry could not be measured, with a line for each. */
export function failures({ cells }: Results): number {
  const failed = cells.filter(({ status }) => status === 'failed')
  for (const entry of new Set(failed.map((cell) => cell.entry))) {
    const own = failed.filter((cell) => cell.entry === entry)
    console.error(
      `lab: ${entry} failed in ${own.length} cell${own.length > 1 ? 's' : ''}: ${own[0]?.reason ?? ''}; npm run lab -- doctor ${entry.replace(/[@#].*/, '')} looks closer`,
    )
  }
  return failed.length > 0 ? 2 : 0
}
