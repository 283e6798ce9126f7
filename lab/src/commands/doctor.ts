import { loadavg } from 'node:os'
import { count, readArguments } from '../arguments.ts'
import { entryNamed, versionOptions } from '../choice.ts'
import { conformance } from '../conformance.ts'
import { chooseCores } from '../cores.ts'
import { type Entry, readEntries } from '../entry.ts'
import { generatorAgreement } from '../generator-agreement.ts'
import { generatorPackages } from '../generators/generator.ts'
import { installEntry, installedVersion, runtimeOf } from '../install.ts'
import { describeMachine, isInstalled } from '../machine.ts'
import { hasExactCpu } from '../readings.ts'
import { scenarios } from '../scenarios/index.ts'
import type { Command } from './command.ts'

export const doctor: Command = {
  name: 'doctor',
  about: 'what this machine can measure, and whether entries do the work they are asked for',
  help: `usage: npm run lab -- doctor [ENTRY …]
       npm run lab -- doctor --generators [--rounds 5]

Without entries: the machine, its cores, what generators there are. With entries (or --all): each is installed, started
and checked in every scenario that it serves. Exit code 1 when one fails.
With --generators: our generator and wrk, interleaved, against the limit (which has the higher ceiling?) and against
five servers (do they see the same?). Where the noise is above 15 % it cannot tell, and the exit code is 1.
--node and --newer-glibc choose what servers run on, as for pair.

examples
  npm run lab -- doctor
  npm run lab -- doctor fastify
  npm run lab -- doctor --all`,
  async run(argv) {
    const args = readArguments('doctor', argv, {
      all: { type: 'boolean' },
      generators: { type: 'boolean' },
      rounds: { type: 'string' },
      ...versionOptions,
    })
    if (args.values['generators'] === true)
      return (await generatorAgreement(count(args, 'rounds', 5, 100))) ? 0 : 1
    const all = readEntries()
    const entries = args.values['all'] === true ? all : args.positionals.map((name) => entryNamed(name, all))
    if (entries.length === 0) return checkMachine()
    let sound = true
    for (const entry of entries) sound = (await checkEntry(entry)) && sound
    return sound ? 0 : 1
  },
}

function checkMachine(): number {
  const { cpu, cores, kernel, node, governor, commit } = describeMachine()
  const [load = 0] = loadavg()
  const say = (good: boolean, what: string): void => console.log(`${good ? 'good' : 'bad '}  ${what}`)
  say(true, `${cpu}, ${cores} cores, ${kernel}, Node.js ${node}, commit ${commit ?? 'unknown'}`)
  const { server, label } = chooseCores()
  say(server !== null, label)
  say(
    hasExactCpu(),
    hasExactCpu() ? 'CPU time by the nanosecond' : 'CPU time in steps of 10 ms: windows of 2 s or more',
  )
  say(
    governor === null || governor === 'performance',
    `frequency governor: ${governor ?? 'not to be seen here'}`,
  )
  say(
    load < 0.5,
    `load of the last minute: ${load.toFixed(2)}${load < 0.5 ? '' : '; something else is running'}`,
  )
  for (const name of ['wrk', 'autocannon', 'oha'] as const) {
    console.log(
      isInstalled(name)
        ? `good  ${name} is installed`
        : `–     ${name} is missing, and only needed for --generator ${name}: ${generatorPackages[name]}`,
    )
  }
  return server === null ? 1 : 0
}

async function checkEntry(entry: Entry): Promise<boolean> {
  try {
    await installEntry(entry)
    console.log(
      `${entry.name}: ${entry.title} ${installedVersion(entry)}, ${entry.adapter}, ${runtimeOf(entry)}`,
    )
  } catch (error) {
    console.log(`${entry.name}: ${(error as Error).message}`)
    return false
  }
  let sound = true
  const { server } = chooseCores()
  for (const scenario of scenarios.filter(({ program }) => entry.programs.includes(program))) {
    const [variant] = scenario.variants
    if (variant === undefined) continue
    const fault = await conformance(entry, scenario, variant, server, 0).catch(
      (error: unknown) => (error as Error).message,
    )
    console.log(
      `  ${fault === null ? 'good' : 'bad '}  ${scenario.name}${fault === null ? '' : `: ${fault}`}`,
    )
    sound &&= fault === null
  }
  return sound
}
