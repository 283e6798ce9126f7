/** `npm run lab -- workers`: what a request costs at 1, 2 and 4 workers on one core, and what a second core brings. */
import { type Cores, allowedCores, stepAside } from '../cores.ts'
import { Failure } from '../failure.ts'
import { count } from '../soak.ts'
import { type Estimate, pairedRatio, summarize } from '../statistics.ts'
import { Cluster } from './cluster.ts'
import { type Cost, costOf, measure } from './cost.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface WorkersMethod {
  readonly workers: readonly number[]
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

/** The CPU time of a request, at most, over that at the least number of workers. */
const mostCpu = 1.03
/** The requests a second of two workers on two cores, at least, over those of one on one. */
const leastRate = 1.9
/** Two cores for workers, two for generators. */
const coresNeeded = 4

/** Measures on one core, prints the figures, and gives a sentence for each bar that was missed. */
export async function oneCore(
  name: ClusterName,
  method: WorkersMethod,
  cores: Cores,
): Promise<readonly string[]> {
  stepAside(cores)
  const found = new Map<number, Cost[]>(method.workers.map((workers) => [workers, []]))
  for (let round = 0; round < method.rounds; round++) {
    // Every second round runs backwards, so that what drifts on the machine is nobody's advantage.
    const order = round % 2 === 0 ? method.workers : method.workers.toReversed()
    for (const workers of order) {
      const window = { connections: method.connections, close: false, seconds: method.seconds }
      const cost = await costOf({ name, workers }, window, cores)
      found.get(workers)?.push(cost)
      console.error(`${name}, round ${round + 1}, ${workers} workers: ${wordsOf(cost)}`)
    }
  }
  const cpu = new Map([...found].map(([workers, costs]) => [workers, costs.map((cost) => cost.cpu)]))
  const idle = [...found].filter(([, costs]) =>
    costs.some(({ shares }) => shares.some((share) => share < leastShare)),
  )
  const { ratios, faults } = judgeWorkers(
    cpu,
    idle.map(([workers]) => workers),
  )
  console.log(
    `${rivals[name].title}: CPU time of a request, all processes, ${method.connections} connections, ${method.rounds} rounds; ${cores.label}\n` +
      [...found]
        .map(([workers, costs]) => {
          const own = summarize(costs.map((cost) => cost.cpu))
          const ratio = ratios.get(workers)
          const rate = summarize(costs.map((cost) => cost.rate)).median
          return `  ${String(workers).padStart(2)} workers  ${estimate(own, 2)} µs, ${count(Math.round(rate))} requests/s${ratio === undefined ? '' : `, ${estimate(ratio, 3)} of that at ${method.workers[0]}`}\n`
        })
        .join('') +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** A worker with a smaller share of the CPU time serves nothing. */
const leastShare = 0.02

/** Gives the ratios to the first, by round, and a sentence for each bar that is missed. */
export function judgeWorkers(cpu: ReadonlyMap<number, readonly number[]>, idle: readonly number[]) {
  const [first, ...others] = cpu
  const ratios = new Map<number, Estimate>()
  const faults = idle.map((workers) => `with ${workers} workers one of them did nothing`)
  for (const [workers, values] of others) {
    const ratio = pairedRatio(values, first?.[1] ?? [])
    ratios.set(workers, ratio)
    // NaN must not meet a bar, so the comparison is negated.
    if (!(ratio.high <= mostCpu))
      faults.push(`at ${workers} workers it is ${estimate(ratio, 3)}, of at most ${mostCpu}`)
  }
  return { ratios, faults }
}

/**
 * Measures one worker on one core and two on two, from two generators on other cores. Throws a `Failure` with fewer than
 * four cores.
 */
export async function ownCores(name: ClusterName, method: WorkersMethod): Promise<readonly string[]> {
  const allowed = allowedCores()
  if (allowed.length < coresNeeded)
    throw new Failure(
      `two workers on cores of their own and the generators on others need ${coresNeeded} cores, and there are ${allowed.length}: on these the generator would be measured`,
      2,
    )
  const [one, two, three, four] = allowed as [number, number, number, number]
  const rates: [number[], number[]] = [[], []]
  for (let round = 0; round < method.rounds; round++) {
    const order = round % 2 === 0 ? ([1, 2] as const) : ([2, 1] as const)
    for (const workers of order) {
      const rate = await rateOf(
        name,
        workers,
        workers === 1 ? `${one}` : `${one},${two}`,
        [three, four],
        method,
      )
      rates[workers - 1]?.push(rate)
      console.error(`${name}, round ${round + 1}, ${workers} workers: ${count(Math.round(rate))} requests/s`)
    }
  }
  const { ratio, faults } = judgeRates(...rates)
  console.log(
    `${rivals[name].title}: requests/s of two workers on cores ${one} and ${two} over those of one on core ${one}, ${method.rounds} rounds\n` +
      `  1 worker    ${estimate(summarize(rates[0]), 0)}\n  2 workers   ${estimate(summarize(rates[1]), 0)}\n  ratio       ${estimate(ratio, 2)}\n` +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** The rate of two generators together. */
export async function rateOf(
  name: ClusterName,
  workers: number,
  own: string,
  generators: readonly number[],
  { connections, seconds }: Pick<WorkersMethod, 'connections' | 'seconds'>,
): Promise<number> {
  const cluster = await Cluster.start({ name, workers, core: own })
  try {
    const share = { connections: Math.ceil(connections / generators.length), close: false, seconds }
    const costs = await Promise.all(generators.map((core) => measure(cluster, share, core)))
    if (costs.some(({ rate }) => rate === 0)) throw new Failure(`${cluster.title}: nothing was answered`)
    return costs.reduce((sum, { rate }) => sum + rate, 0)
  } finally {
    await cluster.stop()
  }
}

/** Gives the ratio by round, and a sentence when it is too low. */
export function judgeRates(one: readonly number[], two: readonly number[]) {
  const ratio = pairedRatio(two, one)
  const faults = ratio.low >= leastRate ? [] : [`it is ${estimate(ratio, 2)}, of at least ${leastRate}`]
  return { ratio, faults }
}

function wordsOf({ cpu, rate, busy, shares }: Cost): string {
  const each = shares.map((share) => `${(share * 100).toFixed(0)} %`).join(', ')
  return `${cpu.toFixed(2)} µs, ${count(Math.round(rate))} requests/s, ${(busy * 100).toFixed(0)} % of the core, by worker ${each}`
}

function estimate({ median, low, high }: Estimate, digits: number): string {
  const text = (value: number) =>
    value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  return `${text(median)} (${text(low)} to ${text(high)})`
}
