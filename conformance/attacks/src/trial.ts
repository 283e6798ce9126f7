/** Runs one attack on one server: measures what it cost the server, and gives the verdict. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Outcome, Patience } from './attack.ts'
import type { Certificate } from '@volant/test-kit'
import type { Target } from './connection.ts'
import { ask } from './healthy.ts'
import { type Server, type SubjectName, cpuOf, forgetPeak, memoryOf, peakOf, startServer } from './server.ts'

export interface Trial {
  readonly attack: Attack
  readonly outcome: Outcome
  /** The number of handler runs; null if they are not counted. */
  readonly calls: number | null
  /** Resident memory in bytes; null if the process of the server is not ours. */
  readonly memory: Memory | null
  /** CPU time of the server during the attack in ms, and the share of a core that it used afterwards; null where nothing has to end. */
  readonly cpu: { readonly during: number; readonly later: number | null } | null
  /** The duration of the attack, in ms. */
  readonly took: number
  /** The bars that the server missed, in words. The list is empty when the attack is passed. */
  readonly faults: readonly string[]
}

interface Memory {
  readonly before: number
  readonly peak: number
  readonly after: number
  /** The memory while the attack held resources, without garbage; null for attacks whose goal is not `held`. */
  readonly held: number | null
}

/** How a server is attacked. */
export interface Course {
  readonly quick: boolean
  readonly encrypted: boolean
  readonly certificate: Certificate
  /** Limits beside those that the short form sets. */
  readonly limits?: Readonly<Record<string, number>>
}

const megabyte = 1e6
/** The memory of a process that runs JavaScript varies by this much without an attack. */
const floor = 10 * megabyte
/** A process that holds replies grows by this much more: for streams, and for garbage that one collection leaves. */
const besides = 25 * megabyte
/** Received bytes may take up to this many times as much memory. */
const factor = 10
/** V8 may not have collected this much of dropped replies yet. It collects in steps of 32 and 64 MB. */
const garbage = 100 * megabyte
/** The most bytes of memory and the most ms of CPU time of one request. */
const requestMemory = 1_048_576
const requestCpu = 10
/** The most bytes of a handshake that was begun: a connection, the library's state and part of a record. */
const handshakeMemory = 8_192
/** The most of a core that a server may use after it has ended the attack. */
const laterShare = 0.1
/**
 * At least this share of the connections must be open, or the trial is no attack. No attack tests limits that refuse
 * connections before they are open.
 */
const leastOpened = 0.9
/** The number of requests before the attack, so that memory of code that is compiled once does not count. */
const warmUp = 1_000

/** The defaults of Volant, and the values that replace them in the short form. */
const defaults: Patience = { headers: 10_000, send: 30_000, handshake: 10_000, grace: 30_000 }
/** They are for the server's healthy clients, too, which may stand still for 2 s. */
const short: Patience = { headers: 5_000, send: 5_000, handshake: 5_000, grace: 30_000 }

/** Starts the server, attacks it and stops it. Throws when it does not start. */
export async function tryAttack(name: SubjectName, attack: Attack, course: Course): Promise<Trial> {
  const patience = course.quick ? short : defaults
  const limits = { ...attack.limits, ...course.limits }
  const server = await startServer(name, {
    certificate: course.encrypted || attack.overTls ? course.certificate : null,
    limits: {
      ...(course.quick && {
        headersTimeout: patience.headers,
        sendTimeout: patience.send,
        tlsHandshakeTimeout: patience.handshake,
      }),
      ...limits,
    },
  })
  try {
    return await watch(server, attack, course.quick, patience, limits['maxBufferedReplies'] ?? 0)
  } finally {
    await server.stop()
  }
}

/** Attacks a server that runs already, of which only the bytes that it sends are known. */
export async function tryTarget(target: Target, attack: Attack, quick: boolean): Promise<Trial> {
  const began = performance.now()
  const outcome = await attack.run(
    target,
    attack.times[quick ? 'quick' : 'full'],
    quick ? short : defaults,
    async () => undefined,
  )
  const took = performance.now() - began
  const faults = [...endFaults(attack, outcome), ...((await ask(target)) === 200 ? [] : [silent])]
  return { attack, outcome, calls: null, memory: null, cpu: null, took, faults }
}

const silent = 'it answers nobody afterwards'

/** Runs and judges an attack. `mostHeld` is the maxBufferedReplies of an attack whose goal is `held`. */
async function watch(
  server: Server,
  attack: Attack,
  quick: boolean,
  patience: Patience,
  mostHeld: number,
): Promise<Trial> {
  const { target, pid } = server
  if ((await ask(target, warmUp)) !== 200) throw new Error('the server does not answer GET /')
  await settle(server)
  const calls = await server.calls()
  const before = memoryOf(pid)
  forgetPeak(pid)
  const cpu = cpuOf(pid)
  const began = performance.now()
  let held: number | null = null
  const look = async (): Promise<void> => {
    await settle(server)
    held = memoryOf(pid)
  }
  const outcome = await attack.run(target, attack.times[quick ? 'quick' : 'full'], patience, look)
  const took = performance.now() - began
  const peak = peakOf(pid)
  const spent = cpuOf(pid)
  const later = attack.goal.ends === null ? null : await shareOfCore(pid, spent)
  const called = await server.calls()
  await settle(server)
  const after = memoryOf(pid)
  const lives = server.runs() && (await ask(target)) === 200
  const trial = {
    attack,
    outcome,
    calls: called === null || calls === null ? null : called - calls,
    memory: { before, peak, after, held },
    cpu: { during: spent - cpu, later },
    took,
  }
  return {
    ...trial,
    faults: [
      ...faultsOf(trial, mostHeld),
      ...(server.counts && trial.calls === null ? ['it does not say how many handlers ran'] : []),
      ...(lives ? [] : [server.runs() ? silent : 'it has ended']),
    ],
  }
}

/** Gives how much of a core the server uses in a second after the attack, which had used `spent` ms. */
async function shareOfCore(pid: number, spent: number): Promise<number> {
  const over = performance.now()
  await sleep(1_000)
  return (cpuOf(pid) - spent) / (performance.now() - over)
}

async function settle(server: Server): Promise<void> {
  await server.collect()
  await sleep(100)
  await server.collect()
}

function faultsOf(
  { attack, outcome, calls, memory, cpu }: Omit<Trial, 'faults'>,
  mostHeld: number,
): string[] {
  const faults = endFaults(attack, outcome)
  const { goal } = attack
  const wasted = (calls ?? 0) - (outcome.answered ?? 0)
  if (goal.calls !== null && wasted >= goal.calls) faults.push(`${wasted} handlers`)
  if (memory !== null) {
    const rise = memory.peak - memory.before
    const most = mostMemory(goal.memory, outcome, mostHeld)
    if (rise >= most) faults.push(`+${inMegabytes(rise)} MB, at most ${inMegabytes(most)}`)
    const held = memory.held === null ? 0 : memory.held - memory.before
    if (goal.memory === 'held' && held >= mostHeld + besides)
      faults.push(`${inMegabytes(held)} MB are held, at most ${inMegabytes(mostHeld + besides)}`)
    const kept = memory.after - memory.before
    if (kept >= floor) faults.push(`${inMegabytes(kept)} MB stay`)
  }
  if (cpu !== null && cpu.later !== null && cpu.later >= laterShare)
    faults.push(`${(cpu.later * 100).toFixed(0)} % of a core after it`)
  if (cpu !== null && goal.cpu !== undefined) {
    const each = (cpu.during * 1_000) / (outcome.sent / 1_024)
    if (each > goal.cpu) faults.push(`${each.toFixed(0)} µs of CPU a KiB, at most ${goal.cpu}`)
  }
  const { requests } = outcome
  if (
    cpu !== null &&
    requests !== undefined &&
    attack.goal.ends === null &&
    cpu.during / requests > requestCpu
  )
    faults.push(`${(cpu.during / requests).toFixed(1)} ms of CPU a request`)
  return faults
}

/** Gives the faults of a server whose memory and CPU time are not known. */
function endFaults({ goal }: Attack, outcome: Outcome): string[] {
  const { closed, released, ended, connections, refused, sent, received, cut = 0 } = outcome
  const faults: string[] = [...(outcome.faults ?? [])]
  if (refused > (1 - leastOpened) * connections)
    faults.push(`${refused} of ${connections} connections were refused by the server`)
  if (goal.back !== undefined && received > goal.back * sent)
    faults.push(`${(received / sent).toFixed(1)} times what was sent came back, at most ${goal.back}`)
  if (cut > 0) faults.push(`${cut} others did not get what they asked for`)
  if (goal.ends === 'connections' && !closed) faults.push(`not closed (${ended})`)
  if (goal.ends === 'streams' && !released) faults.push('streams are left')
  return faults
}

function mostMemory(
  kind: Attack['goal']['memory'],
  { sent, connections, requests = 0 }: Outcome,
  mostHeld: number,
): number {
  if (kind === 'rise') return floor
  if (kind === 'share') return factor * sent + floor
  if (kind === 'handshake') return handshakeMemory * connections + floor
  if (kind === 'held') return mostHeld + garbage + floor
  return requestMemory * requests + floor
}

export function inMegabytes(bytes: number): string {
  return (bytes / megabyte).toFixed(1)
}
