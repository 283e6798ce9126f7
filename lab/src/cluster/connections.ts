/** `npm run lab -- connections`: what the supervisor costs, beside the same app started by itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { type Cores, stepAside } from '../cores.ts'
import { Failure } from '../failure.ts'
import { firstReply } from '../measures/startup.ts'
import { cpuBetween, readCpuOf } from '../readings.ts'
import { hello } from '../scenarios/hello.ts'
import { type Estimate, pairedDifference, pairedRatio, summarize } from '../statistics.ts'
import { Cluster } from './cluster.ts'
import { costOf } from './cost.ts'
import { privateMemory, proportionalMemory } from './processes.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface ConnectionsMethod {
  readonly workers: number
  readonly seconds: number
  readonly rounds: number
  /** The time in which the supervisor has nothing to do, in s. */
  readonly idle: number
}

/** One round: first of the cluster, then of the same app in one process. Times of CPU in µs, of starts in ms. */
export interface Pair {
  readonly supervised: number
  readonly alone: number
}

export interface ConnectionFindings {
  readonly singly: readonly Pair[]
  readonly crowd: readonly Pair[]
  readonly request: readonly Pair[]
  readonly start: readonly Pair[]
  /** Of the first process: bytes of PSS, and the share of a core that it uses while nothing happens. */
  readonly memory: readonly number[]
  /** Bytes that no other process has: told, and not judged. */
  readonly own: readonly number[]
  readonly idle: readonly number[]
}

/** The bars: µs more for a connection, one at a time and 64 at once; times a request; ms more for a start. */
const [mostSingly, mostCrowd, mostRequest, mostStart] = [25, 8, 1.01, 80]
/** MB of PSS, and the share of a core that still reads as 0 %. */
const [mostMemory, mostIdle] = [15, 0.005]
const [one, crowd, many] = [1, 64, 100]
/** A process that has not answered in this time never does, in ms. */
const startLimit = 30_000
/** After a start a process still compiles and collects garbage, in ms. */
const settling = 3_000

/** Measures, prints the figures, and gives a sentence for each bar that was missed. */
export async function connections(
  name: ClusterName,
  method: ConnectionsMethod,
  cores: Cores,
): Promise<readonly string[]> {
  stepAside(cores)
  const found = {
    singly: [] as Pair[],
    crowd: [] as Pair[],
    request: [] as Pair[],
    start: [] as Pair[],
    memory: [] as number[],
    own: [] as number[],
    idle: [] as number[],
  }
  for (let round = 0; round < method.rounds; round++) {
    const paired = (measure: (alone: boolean) => Promise<number>) => inTurn(measure, round % 2 === 1)
    const cpu = (connections: number, close: boolean) =>
      paired(async (alone) => {
        const window = { connections, close, seconds: method.seconds }
        return (await costOf({ name, workers: alone ? 1 : method.workers, alone }, window, cores)).cpu
      })
    found.singly.push(await cpu(one, true))
    found.crowd.push(await cpu(crowd, true))
    found.request.push(await cpu(many, false))
    found.start.push(await paired((alone) => startOf(name, alone ? 1 : method.workers, alone, cores)))
    const { memory, own, idle } = await restOf(name, method, cores)
    found.memory.push(memory)
    found.own.push(own)
    found.idle.push(idle)
    console.error(`${name}, round ${round + 1} of ${method.rounds}: ${wordsOf(found, round)}`)
  }
  const { rows, faults } = judgeConnections(found)
  console.log(
    `${rivals[name].title}, ${method.workers} worker${method.workers === 1 ? '' : 's'}, beside the same app in one process, ${method.rounds} rounds; ${cores.label}\n` +
      rows.map((row) => `  ${row}\n`).join('') +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a row for each figure, and a sentence for each bar that is missed by the upper end of its interval. */
export function judgeConnections(found: ConnectionFindings) {
  const rows: string[] = []
  const faults: string[] = []
  const judge = (
    what: string,
    value: Estimate,
    most: number,
    digits: number,
    unit: string,
    more = '',
  ): void => {
    const words = `${estimate(value, digits)}${unit}`
    rows.push(`${what.padEnd(30)}${words}, of at most ${most}${unit}${more}`)
    // NaN must not meet a bar, so the comparison is negated.
    if (!(value.high <= most)) faults.push(`${what}: ${words}`)
  }
  const beside = (pairs: readonly Pair[], digits: number, unit: string) =>
    `; ${estimate(summarize(pairs.map(({ supervised }) => supervised)), digits)} beside ${estimate(summarize(pairs.map(({ alone }) => alone)), digits)}${unit}`
  const difference = (pairs: readonly Pair[]) =>
    pairedDifference(
      pairs.map(({ supervised }) => supervised),
      pairs.map(({ alone }) => alone),
    )
  const { singly, crowd: crowds, request, start, memory, own, idle } = found
  judge('a new connection adds', difference(singly), mostSingly, 1, ' µs', beside(singly, 1, ' µs'))
  judge(`of ${crowd} at once it adds`, difference(crowds), mostCrowd, 1, ' µs', beside(crowds, 1, ' µs'))
  judge(
    'a request costs, times',
    pairedRatio(
      request.map(({ supervised }) => supervised),
      request.map(({ alone }) => alone),
    ),
    mostRequest,
    3,
    '',
    beside(request, 2, ' µs'),
  )
  judge('a start takes longer by', difference(start), mostStart, 0, ' ms', beside(start, 0, ' ms'))
  const megabytes = (bytes: readonly number[]) => summarize(bytes.map((each) => each / 1e6))
  const ownWords = `; ${estimate(megabytes(own), 1)} MB are its own`
  judge('PSS of the first process', megabytes(memory), mostMemory, 1, ' MB', ownWords)
  judge('its idle share of a core', summarize(idle.map((share) => share * 100)), mostIdle * 100, 2, ' %')
  return { rows, faults }
}

async function inTurn(measure: (alone: boolean) => Promise<number>, backwards: boolean): Promise<Pair> {
  if (backwards) {
    const alone = await measure(true)
    return { supervised: await measure(false), alone }
  }
  const supervised = await measure(false)
  return { supervised, alone: await measure(true) }
}

/** From before the process is started to the first right reply, in ms. */
async function startOf(name: ClusterName, workers: number, alone: boolean, cores: Cores): Promise<number> {
  const port = await freePort()
  const begun = performance.now()
  const cluster = Cluster.begin({ name, workers, alone, core: cores.server }, port)
  try {
    const never = new AbortController().signal
    if (!(await firstReply(port, '/json', hello, begun + startLimit, never)))
      throw new Failure(`${cluster.title} did not answer in ${startLimit / 1_000} s: ${cluster.errors()}`)
    return performance.now() - begun
  } finally {
    await cluster.stop()
  }
}

/** What the first process has and uses while nothing happens. */
async function restOf(name: ClusterName, { workers, idle }: ConnectionsMethod, cores: Cores) {
  const cluster = await Cluster.start({ name, workers, core: cores.server })
  try {
    await sleep(settling)
    const [before, begun] = [readCpuOf([cluster.pid]), performance.now()]
    await sleep(idle * 1_000)
    const used = cpuBetween(before, readCpuOf([cluster.pid])).running
    return {
      memory: proportionalMemory(cluster.pid),
      own: privateMemory(cluster.pid),
      idle: used / 1e6 / (performance.now() - begun),
    }
  } finally {
    await cluster.stop()
  }
}

function wordsOf(found: ConnectionFindings, round: number): string {
  const pair = (pairs: readonly Pair[]) =>
    `${pairs[round]?.supervised.toFixed(1)} / ${pairs[round]?.alone.toFixed(1)}`
  return `connection ${pair(found.singly)}, of ${crowd} ${pair(found.crowd)}, request ${pair(found.request)} µs, start ${pair(found.start)} ms`
}

function estimate({ median, low, high }: Estimate, digits: number): string {
  return `${median.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`
}
