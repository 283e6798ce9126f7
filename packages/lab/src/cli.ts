/** `npm run lab`: compares servers on this machine, and shows what they keep of their clients. */
import { parseArgs } from 'node:util'
import { barGroups, startServers } from './bars.ts'
import { chooseCores } from './cores.ts'
import { Failure } from './failure.ts'
import { idle, idleServers } from './idle.ts'
import { isInstalled } from './machine.ts'
import { type Group, type Lane, type Method, lanes, sidesOf } from './pair.ts'
import { hasExactCpu } from './readings.ts'
import { entries, entryOf } from './roster.ts'
import { type Plan, run } from './run.ts'
import { scenarioOf, scenarios } from './scenario.ts'
import { soak } from './soak.ts'
import { leastStarts } from './startup.ts'

const usage = `usage: npm run lab -- pair A B …   compare two or more servers; the first is the base of the ratios
       npm run lab -- pair --bars  everything that is promised, in one table; exit code 1 when a promise is missed
       npm run lab -- startup      start to first reply and idle memory of fresh processes
       npm run lab -- soak         pipelined requests and rude clients: are memory, files and slots given back?
       npm run lab -- idle         what idle keep-alive connections cost

servers
${entries.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join('\n')}

scenarios
${scenarios.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join('\n')}

options of pair
  --scenario NAME what is asked of the servers (json); with --bars, only the bars about it, or about startup
  --rounds N      interleaved rounds (5; 15 with --bars, which take under 15 minutes and say so first)
  --warmup S      seconds of load before each window (what the scenario says: 1)
  --window S      seconds measured (1.5)
  --lane LANE     plain, pipelined or both (both for json, plain for others)
  --connections N kept open by wrk (100)
  --depth N       requests at once in the pipelined lane (10)
  --json FILE     every measurement, with the machine, the versions and the commit

options of startup, which may be followed by servers (${startServers.join(' ')})
  --rounds N      processes of each server, interleaved (15)
  --json FILE     as above

options of soak, exit code 1 when a verdict is missed or a reply is wrong
  --requests N    sent in all (1000000); memory is compared with that after 200,000
  --connections N at once (50)
  --adapter NAME  native or node-http (native)

options of idle, exit code 1 when a connection is dropped or the bar of native is missed
  --connections N kept open (10000)
  --server NAME   ${idleServers.join(', ')} (native)`

/** Without exact CPU times a window needs this for an error below 1 %, in s. */
const coarseWindow = 2

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof Failure)) throw error
  console.error(`lab: ${error.message}`)
  process.exitCode = error.exitCode
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args)
  const [command, ...named] = positionals
  if (values.help || command === undefined) {
    console.log(usage)
    return values.help ? 0 : 2
  }
  if (command === 'soak' || command === 'idle') return (await alone(command, values)) ? 0 : 1
  if (command !== 'pair' && command !== 'startup')
    throw new Failure(`unknown command ${command}; try --help`, 2)
  if (process.platform !== 'linux') throw new Failure('the lab reads CPU time from /proc: Linux only', 2)
  const plan = command === 'pair' ? pairPlan(named, values) : startupPlan(named, values)
  const { cores } = plan.method
  if (plan.groups.length > 0 && !isInstalled('wrk'))
    throw new Failure('the load generator is missing: install the package wrk', 2)
  if (cores.server === null) console.error(`lab: ${cores.label}`)
  // `exit` ends the children by their pids: src/server.ts, src/wrk.ts.
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => process.exit(code))
  }
  const kept = await run(plan)
  return values.bars && !kept ? 1 : 0
}

type Values = ReturnType<typeof readArguments>['values']

function pairPlan(named: readonly string[], values: Values): Plan {
  const method = methodOf(values)
  const file = values.json
  if (values.bars) {
    const groups = barGroups(named.map(entryOf)).filter((group) => wanted(group, values))
    const starts = wantsStarts(values) ? startServers.map(entryOf) : []
    return { method, groups, starts, startRounds: Math.max(method.rounds, leastStarts), file }
  }
  if (named.length < 2) throw new Failure('pair takes two servers or more; try --help', 2)
  const scenario = scenarioOf(values.scenario ?? 'json')
  const sides = sidesOf(named.map(entryOf), scenario)
  const laneNames = lanesOf(values.lane ?? (scenario.name === 'json' ? 'both' : 'plain'))
  return { method, groups: laneNames.map((lane) => ({ lane, sides })), starts: [], startRounds: 0, file }
}

function startupPlan(named: readonly string[], values: Values): Plan {
  const method = methodOf({ ...values, bars: true })
  const starts = (named.length > 0 ? [...new Set(named)] : startServers).map(entryOf)
  return { method, groups: [], starts, startRounds: method.rounds, file: values.json }
}

function methodOf(values: Values): Method {
  const window = seconds(values.window, '--window')
  return {
    rounds: count(values.rounds ?? (values.bars ? '15' : '5'), '--rounds', 1_000),
    warmup: values.warmup === undefined ? null : seconds(values.warmup, '--warmup'),
    window: hasExactCpu() ? window : Math.max(window, coarseWindow),
    connections: count(values.connections ?? '100', '--connections', 10_000),
    depth: count(values.depth, '--depth', 1_000),
    cores: chooseCores(),
  }
}

/** Whether a group of the bars is about the scenario and the lane that were asked for, if any. */
function wanted({ lane, sides }: Group, values: Values): boolean {
  const { scenario, lane: laneName = 'both' } = values
  if (!lanesOf(laneName).includes(lane)) return false
  if (scenario === undefined) return true
  return scenario !== 'startup' && sides.some((side) => side.scenario === scenarioOf(scenario))
}

function wantsStarts({ scenario, lane }: Values): boolean {
  return scenario === 'startup' || (scenario === undefined && lane === undefined)
}

/** The commands about one server. */
function alone(command: 'soak' | 'idle', values: Values): Promise<boolean> {
  if (process.platform !== 'linux') throw new Failure('the lab reads memory from /proc: Linux only', 2)
  const { adapter, server } = values
  if (command === 'idle') {
    const connections = count(values.connections ?? '10000', '--connections', 100_000)
    return idle({ connections, server })
  }
  if (adapter !== 'native' && adapter !== 'node-http')
    throw new Failure('--adapter takes native or node-http', 2)
  return soak({
    requests: count(values.requests, '--requests', 1_000_000_000),
    connections: count(values.connections ?? '50', '--connections', 10_000),
    adapter,
  })
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        bars: { type: 'boolean', default: false },
        scenario: { type: 'string' },
        rounds: { type: 'string' },
        warmup: { type: 'string' },
        window: { type: 'string', default: '1.5' },
        lane: { type: 'string' },
        connections: { type: 'string' },
        depth: { type: 'string', default: '10' },
        json: { type: 'string' },
        requests: { type: 'string', default: '1000000' },
        adapter: { type: 'string', default: 'native' },
        server: { type: 'string', default: 'native' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new Failure((error as Error).message.split('\n', 1)[0] as string, 2)
  }
}

function count(text: string, option: string, most: number): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Failure(`${option} takes a whole number from 1 to ${most}`, 2)
}

function seconds(text: string, option: string): number {
  const value = Number(text)
  if (value >= 0.1 && value <= 600) return value
  throw new Failure(`${option} takes seconds from 0.1 to 600`, 2)
}

function lanesOf(text: string): readonly Lane[] {
  if (text === 'both') return lanes
  const lane = lanes.find((name) => name === text)
  if (lane) return [lane]
  throw new Failure('--lane takes plain, pipelined or both', 2)
}
