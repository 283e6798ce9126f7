import { writeFileSync } from 'node:fs'
import { type Arguments, count, names, readArguments, text } from '../arguments.ts'
import { barLines, unjudgedLines } from '../bar-table.ts'
import { allKept, barScenarios, unjudged } from '../bars.ts'
import type { Lane } from '../cell.ts'
import {
  chosenEntries,
  chosenScenarios,
  combine,
  connectionsOf,
  methodHelp,
  methodOf,
  methodOptions,
} from '../choice.ts'
import { readEntries } from '../entry.ts'
import { Failure } from '../failure.ts'
import { operatingPoints } from '../operating-points.ts'
import { terminalProgress } from '../progress.ts'
import { type Plan, describeRun, execute } from '../runner.ts'
import { styleFor } from '../style.ts'
import { resultLines } from '../terminal-tables.ts'
import type { Command } from './command.ts'
import { failures } from './run.ts'

const help = `usage: npm run lab -- pair A B …     compares two or more entries in interleaved rounds
       npm run lab -- pair --bars    everything that is promised, in one table; exit code 1 when a promise is missed
                                     or cannot be judged

  --scenario NAME   of npm run lab -- list; NAME:variant takes one variant (ramapi-json)
  --lane LANE       plain, pipelined or open-loop: only variants of that lane
  --connections N,N plain closed loops at each of these counts of connections (1,10,100)
  --json FILE       every cell, with the machine, the versions and the commit
${methodHelp}

Two entries go A B, B A, …; an entry that is named twice shows the noise. With --bars, 7 rounds (about 24 minutes), and
--scenario takes only the bars about it.

examples
  npm run lab -- pair native uws --newer-glibc
  npm run lab -- pair native native@20 --connections 100 --lane plain
  npm run lab -- pair native native fastify --scenario ramapi-user --rounds 9
  npm run lab -- pair native uws --lane pipelined --generator wrk
  npm run lab -- pair --bars --scenario param`

export const pair: Command = {
  name: 'pair',
  about: 'compares entries in one scenario, or judges everything that is promised (--bars)',
  help,
  async run(argv) {
    const args = readArguments('pair', argv, {
      ...methodOptions,
      bars: { type: 'boolean' },
      scenario: { type: 'string' },
      lane: { type: 'string' },
      json: { type: 'string' },
    })
    const plan = args.values['bars'] === true ? barPlan(args, argv) : pairPlan(args, argv)
    if (plan.method.cores.server === null) console.error(`lab: ${plan.method.cores.label}`)
    const run = await describeRun(plan)
    const results = await execute(plan, run, [], () => undefined, terminalProgress(plan.method))
    const style = styleFor(process.stdout.isTTY === true)
    const isJudged = args.values['bars'] === true
    for (const line of [
      ...resultLines(results, style),
      ...barLines(results.cells, plan.rounds, style),
      ...(isJudged ? unjudgedLines(unjudged(results.cells, plan.chosen), style) : []),
    ])
      console.log(line)
    const file = text(args, 'json')
    if (file !== undefined) writeFileSync(file, `${JSON.stringify(results)}\n`)
    const failed = failures(results)
    if (failed > 0 || !isJudged) return failed
    return allKept(results.cells, plan.chosen) ? 0 : 1
  },
}

function pairPlan(args: Arguments, argv: readonly string[]): Plan {
  // Other generators than ours have no open loop that waits for nobody.
  const foreign = (text(args, 'generator') ?? 'load') !== 'load'
  const counts = connectionsOf(args) ?? operatingPoints
  const wanted = chosenScenarios([text(args, 'scenario') ?? 'ramapi-json'], false, counts).map(
    ({ scenario, variants }) => ({
      scenario,
      variants: variants.filter(({ lane }) => inLane(args, lane) && !(foreign && lane === 'open loop')),
    }),
  )
  const variants = new Set(
    wanted.flatMap((one) =>
      one.variants.map(({ name, point }) => `${one.scenario.name} ${point?.of ?? name}`),
    ),
  )
  const entries = chosenEntries(args, args.positionals)
  if (entries.length < 1 || (entries.length < 2 && variants.size < 2))
    throw new Failure('pair takes two entries or more: npm run lab -- pair native uws', 2)
  const chosen = combine(wanted, entries, false)
  for (const { scenario, entries: able } of chosen) {
    const unable = entries.find((entry) => !able.includes(entry))
    if (unable) throw new Failure(`${unable.name} does not serve ${scenario.name}`, 2)
  }
  if (chosen.length === 0) throw new Failure('none of these entries serves this scenario', 2)
  return planOf(args, argv, chosen, 5)
}

function barPlan(args: Arguments, argv: readonly string[]): Plan {
  const scenario = text(args, 'scenario')
  if (scenario !== undefined) chosenScenarios([scenario], false)
  if ((names(args, 'node') ?? []).length > 1)
    throw new Failure('--bars are judged on one version of Node.js: --node takes one', 2)
  const entries = readEntries()
  const more = chosenEntries(args, args.positionals)
  const chosen = barScenarios(entries, more)
    .filter((one) => scenario === undefined || one.scenario.name === scenario)
    .map((one) => ({ ...one, variants: one.variants.filter(({ lane }) => inLane(args, lane)) }))
    .filter(({ variants }) => variants.length > 0)
  if (chosen.length === 0) throw new Failure(`there is no bar about ${scenario ?? 'this lane'}`, 2)
  // A shorter window for more points: the bars are ratios of the same rounds.
  return planOf(args, argv, chosen, 7, { warmup: 0.8, window: 1 })
}

function planOf(
  args: Arguments,
  argv: readonly string[],
  chosen: Plan['chosen'],
  rounds: number,
  standard = {},
): Plan {
  return {
    name: 'pair',
    command: argv,
    chosen,
    method: methodOf(args, false, standard),
    rounds: count(args, 'rounds', rounds, 1_000),
    seed: count(args, 'seed', Math.floor(Math.random() * 1e6), 2 ** 31 - 1, 0),
  }
}

function inLane(args: Arguments, lane: Lane): boolean {
  const given = text(args, 'lane')
  if (given === undefined) return true
  if (given === 'both') return lane === 'plain' || lane === 'pipelined'
  if (given !== 'plain' && given !== 'pipelined' && given !== 'open-loop')
    throw new Failure(`--lane takes plain, pipelined, both or open-loop, not ${given}`, 2)
  return lane === given.replace('-', ' ')
}
