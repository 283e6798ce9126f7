/** `npm run lab -- kill`: a worker is killed each second under load; which requests fail, and when another serves? */
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../drain/connection.ts'
import { Failure } from '../failure.ts'
import { mulberry32 } from '../random.ts'
import { count } from '../soak.ts'
import { median } from '../statistics.ts'
import { Cluster, pidOf } from './cluster.ts'
import { ClusterLoad, type Lost, type Posts, comparePosts, linesOf } from './load.ts'
import { clientPortsOf } from './processes.ts'
import { type ClusterName, rivals } from './rivals.ts'

export interface KillMethod {
  readonly workers: number
  readonly kills: number
  /** From one kill to the next, in ms. */
  readonly every: number
  readonly clients: number
  readonly seed: number
}

/** A worker that was killed. */
export interface Killing {
  readonly at: number
  readonly worker: string
  /** The client ends of the connections that it had. */
  readonly ports: ReadonlySet<number>
  /** From the kill to the first reply of a worker that had not answered before, in ms; null: none before the end. */
  readonly until: number | null
}

export interface KillFindings extends Posts {
  readonly sent: number
  readonly lost: readonly Lost[]
  readonly killings: readonly Killing[]
}

/** A new worker serves within this time, in ms. */
const mostUntil = 1_000
/** For the last new worker to answer, in ms. */
const settling = 15_000
/**
 * From the kill to its failure, a request that was in flight takes no longer, in ms. A busy machine may hold up the end of
 * the process and then the clients, by 2 s each.
 */
const mostLate = 5_000
/** A new connection is made so often, to find a new worker, in ms. */
const probing = 5

/** Kills, prints what failed, and gives a sentence for each bar that was missed. */
export async function kill(name: ClusterName, method: KillMethod): Promise<readonly string[]> {
  const { title } = rivals[name]
  refuseThreads(name)
  const found = await measure(name, method)
  const faults = judgeKill(found)
  const { beyond, inFlight } = sortLost(found)
  const times = found.killings.flatMap(({ until }) => until ?? [])
  console.log(
    `${title}: ${found.killings.length} kills of one of ${method.workers} workers, ${method.clients} clients, seed ${method.seed}\n` +
      `  requests    ${count(found.sent)}\n` +
      `  failed      ${count(found.lost.length)}, of which ${count(inFlight.length)} on a connection of the worker that was killed\n` +
      linesOf(inFlight) +
      `  beyond      ${count(beyond.length)}\n` +
      linesOf(beyond) +
      `  run twice   ${count(found.twice)} POST\n` +
      `  new worker  ${times.length === 0 ? 'none' : `after ${shown(median(times))}, ${shown(Math.max(...times))} at most`}\n` +
      `              ${found.killings.map(({ until }) => (until === null ? 'never' : Math.round(until))).join(' ')}\n` +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Throws a `Failure` where a signal cannot end one worker. */
export function refuseThreads(name: ClusterName): void {
  if ('threads' in rivals[name])
    throw new Failure(`the workers of ${name} are threads of one process: a signal to one is one to all`, 2)
}

/** Failures of requests that were in flight on a worker when it was killed, and all others. */
export function sortLost({ lost, killings }: Pick<KillFindings, 'lost' | 'killings'>) {
  const inFlight = lost.filter(({ fault, port, worker, sent, failed }) =>
    killings.some(
      (killing) =>
        endings.test(fault) &&
        sent < killing.at + mostLate &&
        failed >= killing.at &&
        failed < killing.at + mostLate &&
        (worker === killing.worker || (port !== null && killing.ports.has(port))),
    ),
  )
  return { inFlight, beyond: lost.filter((one) => !inFlight.includes(one)) }
}

/** A process that is killed resets a connection with bytes that it did not read, and ends the others. */
const endings = /^(?:ECONNRESET|EPIPE|the connection ended) without a (?:first )?reply$/

/** Gives a sentence for each bar that is missed. */
export function judgeKill(found: KillFindings): string[] {
  const faults: string[] = []
  const { beyond } = sortLost(found)
  if (beyond.length > 0)
    faults.push(`${count(beyond.length)} requests failed that were not in flight on a worker that was killed`)
  if (found.twice > 0) faults.push(`${count(found.twice)} POST were run twice`)
  if (found.unrun > 0) faults.push(`${count(found.unrun)} POST were answered, and no worker ran them`)
  const late = found.killings.filter(({ until }) => until === null || !(until < mostUntil))
  if (late.length > 0)
    faults.push(
      `after ${late.length} of ${found.killings.length} kills no new worker served within ${mostUntil / 1_000} s`,
    )
  return faults
}

async function measure(name: ClusterName, method: KillMethod): Promise<KillFindings> {
  const cluster = await Cluster.start({ name, workers: method.workers })
  const load = new ClusterLoad(cluster.port)
  const random = mulberry32(method.seed + 1)
  const killed: Omit<Killing, 'until'>[] = []
  const first = new Set(cluster.workers())
  let ran: number[] = []
  try {
    load.start(method.clients, method.seed)
    const probes = probe(load)
    await sleep(method.every)
    for (let left = method.kills; left > 0; left--) {
      const next = performance.now() + method.every
      // One that has answered nobody is not known to serve yet.
      const workers = cluster.workers().filter((one) => load.seen.has(one))
      const worker = workers[Math.floor(random() * workers.length)]
      if (worker !== undefined) killed.push(end(worker, cluster.port))
      console.error(
        `${name}, ${method.kills - left + 1} of ${method.kills}: ${count(load.lost.length)} failed`,
      )
      await sleep(Math.max(0, next - performance.now()))
    }
    const deadline = performance.now() + settling
    const isDone = () => untilNew(killed, load.seen, first).every((until) => until !== null)
    while (!isDone() && performance.now() < deadline) await sleep(20)
    await load.stop()
    await probes
    ran = cluster.posts()
  } finally {
    load.stopped = true
    await cluster.stop()
  }
  const times = untilNew(killed, load.seen, first)
  return {
    sent: load.sent,
    lost: load.lost,
    killings: killed.map((one, at) => ({ ...one, until: times[at] ?? null })),
    ...comparePosts(load.answeredPosts, ran),
  }
}

/** Stops a worker, reads which connections it has, and kills it. What is stopped takes no further connection. */
function end(worker: string, port: number): Omit<Killing, 'until'> {
  const pid = pidOf(worker)
  process.kill(pid, 'SIGSTOP')
  const ports = clientPortsOf(pid, port)
  const at = performance.now()
  process.kill(pid, 'SIGKILL')
  return { at, worker, ports }
}

/**
 * For each kill, the time in ms to the first reply of the worker that replaced it; null: there was none. Workers that
 * were not there at first replace those that were killed, in order.
 */
export function untilNew(
  killed: readonly { readonly at: number }[],
  seen: ReadonlyMap<string, number>,
  first: ReadonlySet<string>,
): (number | null)[] {
  const fresh = [...seen].flatMap(([worker, replied]) => (first.has(worker) ? [] : [replied]))
  return killed.map(({ at }, index) => {
    const replied = fresh[index]
    return replied === undefined ? null : replied - at
  })
}

/** Makes a connection with one request, again and again, so that a new worker is found at once. */
async function probe(load: ClusterLoad): Promise<void> {
  while (!load.stopped) {
    const connection = await Connection.open(load.port)
    if (connection !== null) void load.ask(connection, 'GET').then(() => connection.close())
    await sleep(probing)
  }
}

function shown(ms: number): string {
  return `${Math.round(ms)} ms`
}
