/** `npm run lab -- balance`: how many of some connections each worker gets. */
import { Connection } from '../drain/connection.ts'
import { Failure } from '../failure.ts'
import { count } from '../soak.ts'
import { Cluster } from './cluster.ts'
import { ClusterLoad } from './load.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface BalanceMethod {
  readonly workers: number
  /** How many connections are held, on a fresh cluster each. */
  readonly connections: readonly number[]
}

export interface Spread {
  readonly connections: number
  /** The connections of each worker, most first; 0 for one that got none. */
  readonly held: readonly number[]
}

/** The most between the worker with most connections and that with fewest. */
const most = 1

/** Connects, prints who got what, and gives a sentence for each bar that was missed. */
export async function balance(name: ClusterName, method: BalanceMethod): Promise<readonly string[]> {
  const found: Spread[] = []
  for (const connections of method.connections) found.push(await measure(name, method.workers, connections))
  const faults = judgeBalance(found)
  console.log(
    `${rivals[name].title}: connections of each of ${method.workers} workers\n` +
      found
        .map(
          (spread) =>
            `  of ${count(spread.connections).padEnd(7)}${spread.held.map(count).join(', ')}: ${differenceOf(spread)} apart, ` +
            `the most is ${(((spread.held[0] ?? 0) * spread.held.length) / spread.connections).toFixed(2)} of the mean\n`,
        )
        .join('') +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeBalance(found: readonly Spread[]): string[] {
  return found
    .filter((spread) => !(differenceOf(spread) <= most))
    .map((spread) => `${differenceOf(spread)} apart with ${count(spread.connections)}`)
}

/** NaN where nobody serves, so that no bar is met. */
function differenceOf({ held }: Spread): number {
  if (held.length === 0) return Number.NaN
  return Math.max(...held) - Math.min(...held)
}

/** How many connect at the same time: as a crowd does, and within any backlog. */
const crowd = 64

async function measure(name: ClusterName, workers: number, wanted: number): Promise<Spread> {
  const cluster = await Cluster.start({ name, workers })
  const load = new ClusterLoad(cluster.port)
  const open: Connection[] = []
  try {
    while (open.length < wanted) {
      const next = Math.min(crowd, wanted - open.length)
      const made = await Promise.all(Array.from({ length: next }, () => connected(load)))
      open.push(...made)
    }
    const held = new Map(cluster.workers().map((worker) => [worker, 0]))
    for (const { isOpen, worker } of open) {
      if (!isOpen || worker === null) throw new Failure(`${name} closed a connection that was held`)
      held.set(worker, (held.get(worker) ?? 0) + 1)
    }
    return { connections: wanted, held: [...held.values()].toSorted((one, other) => other - one) }
  } finally {
    for (const connection of open) connection.close()
    await cluster.stop()
  }
}

/** A connection that was answered once, so that its worker is known. */
async function connected(load: ClusterLoad): Promise<Connection> {
  const connection = await Connection.open(load.port)
  if (connection !== null && (await load.ask(connection, 'GET'))) return connection
  throw new Failure(`a connection was not answered: ${load.lost[0]?.fault ?? 'refused'}`)
}
