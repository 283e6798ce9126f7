/** `npm run lab -- systemd`: a service with a socket of systemd's, restarted and rolled under load; and one that is PID 1. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { Failure } from '../failure.ts'
import { serviceManagerPath } from '../folders.ts'
import { firstReply } from '../measures/startup.ts'
import { descendants } from '../readings.ts'
import { hello } from '../scenarios/hello.ts'
import { count } from '../soak.ts'
import { Cluster, pidOf } from './cluster.ts'
import { ClusterLoad, type Lost, type Posts, comparePosts, linesOf } from './load.ts'
import { zombiesOf } from './processes.ts'

export interface ServiceMethod {
  readonly workers: number
  readonly restarts: number
  readonly orphans: number
  readonly clients: number
  readonly seed: number
}

export interface ServiceFindings extends Posts {
  readonly lost: readonly Lost[]
  readonly sent: number
  readonly restarts: number
  /** What the service said, one text for each datagram, in order; and what the manager did, as `-- started`. */
  readonly said: readonly string[]
  /** Workers in whose environment the manager's variables still were. */
  readonly leaked: number
}

/** Which of its promises a first process kept as PID 1. */
export interface FirstFindings {
  readonly orphans: number
  /** Children of others that it was left with and did not wait for. */
  readonly zombies: number
  /** Its exit code after SIGTERM; null: it did not end. */
  readonly code: number | null
}

/** The manager asks for a sign of life so often, in s; the service gives two in that time. */
const watchdog = 2
/** A service is ready, rolled or over after this time, in ms, or it never is. */
const limit = 60_000
/** How long it serves before it is restarted, in ms. */
const between = 500

/** Runs both, prints what happened, and gives a sentence for each bar that was missed. */
export async function service(method: ServiceMethod): Promise<readonly string[]> {
  const found = await managed(method)
  const first = await asFirst(method)
  const faults = judgeService(found, first)
  const told = (text: string) => found.said.filter((one) => one.includes(text)).length
  console.log(
    `a service of systemd's kind, with ${method.workers} workers: ${found.restarts} restarts of all of it and a roll, ${method.clients} clients, seed ${method.seed}\n` +
      `  requests    ${count(found.sent)}\n` +
      `  failed      ${count(found.lost.length)}\n` +
      linesOf(found.lost) +
      `  run twice   ${count(found.twice)} POST\n` +
      `  said        READY ${told('READY=1')}, RELOADING ${told('RELOADING=1')}, STOPPING ${told('STOPPING=1')}, WATCHDOG ${told('WATCHDOG=1')} times\n` +
      `as PID 1, with ${count(first.orphans)} children of others\n` +
      `  zombies     ${first.zombies}\n` +
      `  SIGTERM     ${first.code === null ? 'did not end it' : `ended it with ${first.code}`}\n` +
      (faults.length === 0 ? '  met' : `  MISSED: ${faults.join('; ')}`),
  )
  return faults
}

/** Gives a sentence for each bar that is missed. */
export function judgeService(found: ServiceFindings, first: FirstFindings): string[] {
  return [
    ...(found.lost.length === 0 ? [] : [`${count(found.lost.length)} requests failed`]),
    ...(found.twice === 0 ? [] : [`${count(found.twice)} POST were run twice`]),
    ...(found.unrun === 0 ? [] : [`${count(found.unrun)} POST were answered, and no worker ran them`]),
    ...faultsOfTold(found.said),
    ...(found.leaked === 0 ? [] : [`${found.leaked} workers have the variables of the manager`]),
    ...(first.zombies === 0 ? [] : [`${first.zombies} zombies are left with PID 1`]),
    ...(first.code === 0 ? [] : [`as PID 1 it ended with ${String(first.code)} after SIGTERM`]),
  ]
}

/**
 * What is wrong with what a service said, by sd_notify(3): READY after each start and after each RELOADING, which has
 * the time in the same datagram; STOPPING before it ends; a sign of life.
 */
export function faultsOfTold(said: readonly string[]): string[] {
  const faults = new Set<string>()
  let state: 'down' | 'starting' | 'ready' | 'reloading' | 'stopping' = 'down'
  for (const text of said) {
    const has = (line: RegExp) => line.test(text)
    if (has(/^-- started$/)) state = 'starting'
    else if (has(/^-- ended$/)) {
      if (state !== 'stopping') faults.add('it ended without STOPPING=1')
      state = 'down'
    } else if (has(/^RELOADING=1$/m)) {
      if (!has(/^MONOTONIC_USEC=\d+$/m))
        faults.add('RELOADING=1 came without MONOTONIC_USEC in the same message')
      if (state !== 'ready') faults.add('RELOADING=1 came before READY=1')
      state = 'reloading'
    } else if (has(/^READY=1$/m)) {
      if (state !== 'starting' && state !== 'reloading') faults.add('READY=1 came twice')
      state = 'ready'
    } else if (has(/^STOPPING=1$/m)) {
      if (state === 'starting') faults.add('READY=1 never came')
      if (state === 'reloading') faults.add('READY=1 never came after RELOADING=1')
      state = 'stopping'
    }
  }
  if (state !== 'down') faults.add(`it was ${state} at the end`)
  if (!said.some((text) => /^RELOADING=1$/m.test(text))) faults.add('RELOADING=1 never came')
  if (!said.some((text) => /^WATCHDOG=1$/m.test(text))) faults.add('WATCHDOG=1 never came')
  return [...faults]
}

async function managed(method: ServiceMethod): Promise<ServiceFindings> {
  if (!existsSync(serviceManagerPath))
    throw new Failure('the service manager is missing: cargo build --release -p volant-load', 2)
  const port = await freePort()
  const by = [serviceManagerPath, String(port), String(watchdog)]
  const cluster = Cluster.begin({ name: 'volant', workers: method.workers, by }, port)
  const load = new ClusterLoad(port, limit)
  let ran: number[] = []
  let leaked = 0
  try {
    await until(() => eventsOf(cluster).length > 0, 'the service manager did not start', cluster)
    cluster.tell('start')
    await untilReady(cluster, 1)
    load.start(method.clients, method.seed)
    for (let at = 1; at <= method.restarts; at++) {
      await sleep(between)
      // As `systemctl restart` does it. New connections wait in the socket meanwhile.
      cluster.tell('TERM')
      await until(() => times(cluster, 'ended') === at, 'the service did not end', cluster)
      cluster.tell('start')
      await untilReady(cluster, at + 1)
      console.error(
        `restart ${at} of ${method.restarts}: ${count(load.lost.length)} failed of ${count(load.sent)}`,
      )
    }
    leaked = cluster.workers().filter((worker) => hasVariables(pidOf(worker))).length
    cluster.tell('HUP')
    await untilReady(cluster, method.restarts + 2)
    // For a sign of life.
    await sleep(watchdog * 1_000)
    await load.stop()
    ran = cluster.posts()
    cluster.tell('TERM')
    await until(() => times(cluster, 'ended') === method.restarts + 1, 'the service did not end', cluster)
    const said = eventsOf(cluster).flatMap(({ event, text }) =>
      event === 'notified' ? [text ?? ''] : [`-- ${event}`],
    )
    return {
      lost: load.lost,
      sent: load.sent,
      restarts: method.restarts,
      said: said.filter((text) => text !== '-- listening'),
      leaked,
      ...comparePosts(load.answeredPosts, ran),
    }
  } finally {
    load.stopped = true
    await cluster.stop()
  }
}

interface ManagerEvent {
  readonly event: 'listening' | 'started' | 'notified' | 'ended'
  readonly text?: string
}

function eventsOf({ lines }: Cluster): ManagerEvent[] {
  return lines.map((line) => JSON.parse(line) as ManagerEvent)
}

function times(cluster: Cluster, wanted: ManagerEvent['event']): number {
  return eventsOf(cluster).filter(({ event }) => event === wanted).length
}

/** Until it has said so many times that it is ready. */
function untilReady(cluster: Cluster, wanted: number): Promise<void> {
  const ready = () => eventsOf(cluster).filter(({ text }) => /^READY=1$/m.test(text ?? '')).length
  return until(() => ready() >= wanted, 'the service did not say that it is ready', cluster)
}

async function until(isSo: () => boolean, what: string, cluster: Cluster): Promise<void> {
  const deadline = performance.now() + limit
  while (!isSo()) {
    if (performance.now() > deadline) throw new Failure(`${what}:\n${cluster.errors()}`)
    await sleep(10)
  }
}

/** What a worker starts would take them for its own. */
function hasVariables(pid: number): boolean {
  try {
    return /(?:^|\0)(?:LISTEN_(?:FDS|PID|FDNAMES)|NOTIFY_SOCKET|WATCHDOG_\w+)=/.test(
      readFileSync(`/proc/${pid}/environ`, 'latin1'),
    )
  } catch {
    return false
  }
}

/** A namespace of processes of its own, in which the command is the first; null where that is not permitted. */
export function unshareCommand(): string[] | null {
  const ways = [
    ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ['unshare', '--user', '--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'],
  ]
  return (
    ways.find(([program, ...args]) => spawnSync(program as string, [...args, 'true']).status === 0) ?? null
  )
}

/** For orphans to end, in ms. */
const settling = 2_000
/** Afterwards, for the first process to have waited for all of them, in ms. */
const reaping = 20_000

async function asFirst({ workers, orphans }: ServiceMethod): Promise<FirstFindings> {
  const by = unshareCommand()
  if (by === null) throw new Failure('unshare may not make a namespace of processes here: run it as root', 2)
  const port = await freePort()
  const cluster = Cluster.begin({ name: 'volant', workers, by }, port)
  try {
    const never = new AbortController().signal
    if (!(await firstReply(port, '/json', hello, performance.now() + limit, never)))
      throw new Failure(`it did not start as PID 1: ${cluster.errors()}`)
    // unshare has one child.
    const first = descendants(cluster.pid)[0] as number
    for (let left = orphans; left > 0; left--) await leaveOrphan(port)
    await sleep(settling)
    const deadline = performance.now() + reaping
    while (zombiesOf(first).length > 0 && performance.now() < deadline) await sleep(20)
    const zombies = zombiesOf(first).length
    process.kill(first, 'SIGTERM')
    const end = await Promise.race([cluster.ended, sleep(limit, null, { ref: false })])
    return { orphans, zombies, code: end?.code ?? null }
  } finally {
    await cluster.stop()
  }
}

/** Has a worker start a process that leaves another one behind. */
async function leaveOrphan(port: number): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${port}/orphan`)
  if (status !== 200) throw new Failure(`a worker answered ${status}`)
}
