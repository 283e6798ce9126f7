/** `npm run lab -- tls-storm`: what clients wait while others do nothing but make TLS handshakes. */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chooseCores } from './cores.ts'
import { type Entry, entryOf } from './entry.ts'
import { Failure } from './failure.ts'
import { installEntry } from './install.ts'
import { isInstalled } from './machine.ts'
import { cpuBetween, readCpu } from './readings.ts'
import { type RunningServer, startServer } from './server.ts'
import { count } from './soak.ts'
import { median, pairedRatio } from './statistics.ts'

export interface TlsStormMethod {
  readonly server: string
  /** Processes of `openssl s_time -new`. */
  readonly storms: number
  /** Of each window, s. */
  readonly seconds: number
  readonly rounds: number
}

/** What a child says of its window, times in ms; of requests, the p99 of those whose reply was right. */
export interface HealthyReport {
  /** From when the request was due. */
  readonly fromDue: number
  /** From when it was written, which leaves out how late the client was with it. */
  readonly fromWrite: number
  /** The client's own lateness. */
  readonly late: number
  /** The longest, from when it was due. */
  readonly worst: number
  /** Requests without a reply, and with another than status 200 and the right body. */
  readonly failed: number
}

/** One round: a window without handshakes, one beside them, and what the server did in the second. */
export interface StormRound {
  readonly without: HealthyReport
  readonly beside: HealthyReport
  /** The share of its core that the server used. */
  readonly busy: number
  /** Each second, while the window was open. */
  readonly handshakes: number
}

/** For the storm to begin, ms. */
const settling = 500
/** The p99 beside the storm: at most so many times that without it, and below so many ms. */
const [times, most] = [2, 50]
/**
 * What a storm is: the server's core is busy for half of the time, or makes so many handshakes a second. The clients share
 * a core with their fellows, and openssl takes it some 1.5 ms for each: 500 a second are what one core sends.
 */
const [leastBusy, leastHandshakes] = [0.5, 500]
/** The storm would go on for so long after its window, s: it is ended before. */
const longer = 60

/** Runs it and prints the figures; false when the bar is missed, there was no storm, or a healthy request failed. */
export async function tlsStorm({ server: name, storms, seconds, rounds }: TlsStormMethod): Promise<boolean> {
  if (!isInstalled('openssl')) throw new Failure('openssl is missing (apt-get install openssl)', 2)
  const entry = entryOf(name)
  await installEntry(entry)
  const found: StormRound[] = []
  for (let at = 0; at < rounds; at += 1) {
    const round = await roundOf(entry, storms, seconds)
    found.push(round)
    console.log(`  round ${at + 1}: ${wordsOf(round)}`)
  }
  const { due, write, faults } = judgeStorm(found)
  console.log(
    `${name}: median p99 beside ${storms} storms, and of its ratios to that without, of at most ${times} and below ${most} ms:\n` +
      `  from due    ${shown(due.beside)}, ${due.ratio.toFixed(2)} times\n` +
      `  from write  ${shown(write.beside)}, ${write.ratio.toFixed(2)} times\n` +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults.length === 0
}

/** The medians of all rounds, with ratios within a round, and each bar that they miss in words. */
export function judgeStorm(rounds: readonly StormRound[]) {
  const clockOf = (clock: 'fromDue' | 'fromWrite') => {
    const beside = rounds.map((round) => round.beside[clock])
    const without = rounds.map((round) => round.without[clock])
    return { beside: median(beside), ratio: pairedRatio(beside, without).median }
  }
  const [due, write] = [clockOf('fromDue'), clockOf('fromWrite')]
  const faults: string[] = []
  for (const [words, { beside, ratio }] of [
    ['from due', due],
    ['from write', write],
  ] as const) {
    // What is not a number is below no bar.
    if (!(ratio <= times)) faults.push(`${words} it is ${ratio.toFixed(2)} times as long`)
    if (!(beside < most)) faults.push(`${words} it is ${shown(beside)}`)
  }
  const failed = rounds.reduce((sum, { without, beside }) => sum + without.failed + beside.failed, 0)
  if (failed > 0) faults.push(`${count(failed)} requests failed`)
  const calm = rounds.filter(({ busy, handshakes }) => busy < leastBusy && handshakes < leastHandshakes)
  if (calm.length > 0)
    faults.push(
      `there was no storm in ${calm.length} of ${rounds.length} rounds: the server's core was less than ${leastBusy * 100} % busy, with fewer than ${count(leastHandshakes)} handshakes/s`,
    )
  return { due, write, faults }
}

function wordsOf({ without, beside, busy, handshakes }: StormRound): string {
  const p99 = ({ fromDue, fromWrite, late }: HealthyReport) =>
    `${shown(fromDue)} from due, ${shown(fromWrite)} from write, client late by ${shown(late)}`
  return (
    `${count(Math.round(handshakes))} handshakes/s, the server's core was ${(busy * 100).toFixed(0)} % busy\n` +
    `    p99 without  ${p99(without)}\n` +
    `    p99 beside   ${p99(beside)}; longest ${shown(beside.worst)}; ${without.failed + beside.failed} failed`
  )
}

async function roundOf(entry: Entry, storms: number, seconds: number): Promise<StormRound> {
  const cores = chooseCores()
  const server = await startServer({
    entry,
    program: 'secure',
    core: cores.server,
    port: 0,
    transport: 'https',
  })
  const raging: Storm[] = []
  const end = () => raging.forEach((storm) => storm.end())
  process.once('exit', end)
  try {
    // Code that runs for the first time is slower; nobody looks at this one.
    await windowOf(server, 1, cores.generator)
    const without = await windowOf(server, seconds, cores.generator)
    for (let left = storms; left > 0; left -= 1)
      raging.push(startStorm(server.port, seconds + longer, cores.generator))
    await sleep(settling)
    const made = () => raging.reduce((sum, storm) => sum + storm.made(), 0)
    const [cpu, first, began] = [readCpu(server.pid, server.mark), made(), performance.now()]
    const beside = await windowOf(server, seconds, cores.generator)
    const took = performance.now() - began
    const busy = cpuBetween(cpu, readCpu(server.pid, server.mark)).running / 1e6 / took
    const handshakes = ((made() - first) * 1_000) / took
    const over = raging.find((storm) => !storm.rages())
    if (over !== undefined)
      throw new Failure(`a storm ended before its window: ${over.errors() || 'openssl s_time said nothing'}`)
    return { without, beside, busy, handshakes }
  } finally {
    end()
    process.off('exit', end)
    await server.stop()
  }
}

interface Storm {
  /** Handshakes so far. */
  made(): number
  rages(): boolean
  errors(): string
  end(): void
}

/** Handshakes as fast as the server makes them, until it is ended. */
function startStorm(port: number, seconds: number, core: number | null): Storm {
  // The healthy clients share this core: what they wait for shall be the server.
  const args = ['nice', '-n', '19', 'openssl', 's_time', '-connect', `127.0.0.1:${port}`, '-new']
  args.push('-time', String(Math.ceil(seconds)))
  if (core !== null) args.unshift('taskset', '--cpu-list', String(core))
  const child = spawn(args[0] as string, args.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  let made = 0
  let errors = ''
  // After its first line it writes one character for each connection.
  let isBegun = false
  child.stdout.on('data', (bytes: Buffer) => {
    const start = isBegun ? 0 : bytes.indexOf('\n') + 1
    isBegun ||= start > 0
    if (isBegun) made += bytes.length - start
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-500)))
  child.on('error', (error) => (errors = error.message))
  return {
    made: () => made,
    rages: () => child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    errors: () => errors.trim(),
    end: () => child.kill('SIGKILL'),
  }
}

async function windowOf(
  { port }: RunningServer,
  seconds: number,
  core: number | null,
): Promise<HealthyReport> {
  const file = fileURLToPath(new URL('./tls-storm-client.js', import.meta.url))
  const child = fork(file, [String(port), String(seconds)], { stdio: ['ignore', 2, 2, 'ipc'] })
  if (core !== null) spawn('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(child.pid)])
  const [said] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Failure(`the healthy clients ended with ${String(code)}`)
    }),
  ])) as [HealthyReport]
  child.kill()
  return said
}

function shown(milliseconds: number): string {
  return `${milliseconds.toFixed(2)} ms`
}
