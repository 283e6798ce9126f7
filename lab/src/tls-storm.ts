/** `npm run lab -- tls-storm`: measures how long clients wait while others only make TLS handshakes. */
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
  /** The number of processes of `openssl s_time -new`. */
  readonly storms: number
  /** The length of each window, in s. */
  readonly seconds: number
  readonly rounds: number
}

/**
 * The report of a child about its window. Times are in ms. `fromDue` and `fromWrite` are the p99 of the requests with a
 * correct reply, `late` is that of all requests.
 */
export interface HealthyReport {
  /** The time from when the request was due. */
  readonly fromDue: number
  /** The time from when it was written, without the lateness of the client. */
  readonly fromWrite: number
  /** The lateness of the client itself. */
  readonly late: number
  /** The longest time from when a request was due. */
  readonly worst: number
  /** The number of requests without a reply, or with a reply other than status 200 and the right body. */
  readonly failed: number
}

/** One round: a window without handshakes, a window with handshakes, and what the server did in the second one. */
export interface StormRound {
  readonly without: HealthyReport
  readonly beside: HealthyReport
  /** The share of its core that the server used. */
  readonly busy: number
  /** The number of handshakes per second in the window. */
  readonly handshakes: number
}

/** The time in ms for the storm to begin before the window. */
const settling = 500
/** The bars of the p99 beside the storm: at most this many times that without the storm, and below this many ms. */
const [times, most] = [2, 50]
/**
 * The least that counts as a storm: the server's core is busy for half of the time, or the server makes this many
 * handshakes a second. The clients share one core with the load of the storm, and openssl takes about 1.5 ms of it for
 * each handshake: 500 a second are what one core can do.
 */
const [leastBusy, leastHandshakes] = [0.5, 500]
/** The time in s that the storm would continue after its window. It is ended before. */
const longer = 60

/**
 * Runs the measurement and prints the figures. Gives false when a bar is missed, there was no storm, or a healthy
 * request failed.
 */
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

/** Gives the medians of all rounds, with ratios within a round, and a sentence for each bar that they miss. */
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
    // NaN must not meet a bar, so the comparisons are negated.
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
    // The first window is slower, because code runs for the first time. Its result is ignored.
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
  /** Gives the number of handshakes so far. */
  made(): number
  rages(): boolean
  errors(): string
  end(): void
}

/** Makes handshakes as fast as the server can, until it is ended. */
function startStorm(port: number, seconds: number, core: number | null): Storm {
  // The healthy clients share this core, and should wait only for the server.
  const args = ['nice', '-n', '19', 'openssl', 's_time', '-connect', `127.0.0.1:${port}`, '-new']
  args.push('-time', String(Math.ceil(seconds)))
  if (core !== null) args.unshift('taskset', '--cpu-list', String(core))
  const child = spawn(args[0] as string, args.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  let made = 0
  let errors = ''
  // After its first line openssl writes one character for each connection.
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
