/** `npm run lab`: compares servers on this machine, and shows what they keep of their clients. */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { barServers, judge } from './bars.ts'
import { chooseCores } from './cores.ts'
import { Failure } from './failure.ts'
import { idle, idleServers } from './idle.ts'
import { installRivals, installedVersion } from './install.ts'
import { describeMachine, isInstalled } from './machine.ts'
import { type Lane, type Method, lanes, measure, rehearse, sidesOf } from './pair.ts'
import { hasExactCpu } from './readings.ts'
import { reportLines, styleFor } from './report.ts'
import { entries, entryOf } from './roster.ts'
import { soak } from './soak.ts'

const usage = `usage: npm run lab -- pair A B …   compare two or more servers; the first is the base of the ratios
       npm run lab -- pair --bars  limit native uws fastify node-http; exit code 1 when a bar is missed
       npm run lab -- soak         pipelined requests and rude clients: are memory, files and slots given back?
       npm run lab -- idle         what idle keep-alive connections cost

servers
${entries.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join('\n')}

options of pair
  --rounds N      interleaved rounds (5)
  --warmup S      seconds of load before each window (1)
  --window S      seconds measured (1.5)
  --lane LANE     plain, pipelined or both (both)
  --connections N kept open by wrk (100)
  --depth N       requests at once in the pipelined lane (10)
  --json FILE     every measurement, with the machine, the versions and the commit

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
  if (command !== 'pair') throw new Failure(`unknown command ${command}; try --help`, 2)
  const names = values.bars ? [...new Set([...barServers, ...named])] : named
  if (names.length < 2) throw new Failure('pair takes two servers or more; try --help', 2)
  const sides = sidesOf(names.map(entryOf))

  if (process.platform !== 'linux') throw new Failure('the lab reads CPU time from /proc: Linux only', 2)
  if (!isInstalled('wrk')) throw new Failure('the load generator is missing: install the package wrk', 2)
  const cores = chooseCores()
  if (cores.server === null) console.error(`lab: ${cores.label}`)
  const window = seconds(values.window, '--window')
  const method: Method = {
    rounds: count(values.rounds, '--rounds', 1_000),
    warmup: seconds(values.warmup, '--warmup'),
    window: hasExactCpu() ? window : Math.max(window, coarseWindow),
    connections: count(values.connections ?? '100', '--connections', 10_000),
    depth: count(values.depth, '--depth', 1_000),
    lanes: laneNames(values.lane),
    cores,
  }
  // `exit` ends the children by their pids: src/server.ts, src/wrk.ts.
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => process.exit(code))
  }

  await installRivals(sides.map(({ entry }) => entry))
  await rehearse(sides, method)
  const startedAt = new Date()
  const samples = await measure(sides, method, showProgress(method.rounds))
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  const machine = describeMachine()
  const style = styleFor(process.stdout.isTTY && !process.env['NO_COLOR'])
  console.log(reportLines(sides, samples, method, machine, style).join('\n'))
  if (values.json !== undefined) {
    const versions = Object.fromEntries(
      sides.map(({ entry }) => [
        entry.name,
        installedVersion(entry) ?? (entry.name === 'node' ? process.version : machine.commit),
      ]),
    )
    const record = { format: 1, startedAt, machine, versions, method, samples, bars: judge(samples) }
    writeFileSync(values.json, `${JSON.stringify(record, null, 2)}\n`)
  }
  const missed = judge(samples).some(({ bar, met }) => bar.kind === 'must' && !met)
  return values.bars && missed ? 1 : 0
}

/** The commands about one server. */
function alone(
  command: 'soak' | 'idle',
  values: ReturnType<typeof readArguments>['values'],
): Promise<boolean> {
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
        rounds: { type: 'string', default: '5' },
        warmup: { type: 'string', default: '1' },
        window: { type: 'string', default: '1.5' },
        lane: { type: 'string', default: 'both' },
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

function laneNames(text: string): readonly Lane[] {
  if (text === 'both') return lanes
  const lane = lanes.find((name) => name === text)
  if (lane) return [lane]
  throw new Failure('--lane takes plain, pipelined or both', 2)
}

/** On a terminal one line that is written over; elsewhere one line a round. */
function showProgress(rounds: number): (round: number, lane: Lane, server: string) => void {
  let last = -1
  return (round, lane, server) => {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\u001b[Kround ${round + 1} of ${rounds}: ${server}, ${lane}`)
    } else if (round !== last) {
      console.error(`round ${round + 1} of ${rounds}`)
    }
    last = round
  }
}
