/** CPU time and memory of a process and its descendants, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** CPU time so far; two readings give what was used between them. */
export interface CpuReading {
  /** Exact times by thread (`schedstat`); empty where the kernel does not keep them. */
  readonly threads: ReadonlyMap<string, ThreadTimes>
  /** User and system time in ns, in steps of a clock tick (10 ms); also counts threads and children that have ended. */
  readonly ticks: number
}

export interface ThreadTimes {
  /** User and system time in ns. */
  readonly running: number
  /** Time in ns it could have run, but its core was taken. */
  readonly waiting: number
}

/** CPU time used between two readings, in ns. */
export interface CpuUse {
  readonly running: number
  /**
   * Waiting of the thread that ran most, less what the others of the process ran: on one core it waits for its own
   * garbage collector too, and that is no disturbance. 0 where the kernel does not say.
   */
  readonly waiting: number
}

/** USER_HZ, fixed at 100 for all architectures Node runs on. */
const tick = 10_000_000

/** `mark`: also processes that have it in their environment, as `startServer` gives one to each server. */
export function readCpu(pid: number, mark?: string): CpuReading {
  return readCpuOf(familyOf(pid, mark))
}

/** Of these processes alone. */
export function readCpuOf(pids: readonly number[]): CpuReading {
  const threads = new Map<string, ThreadTimes>()
  let ticks = 0
  for (const member of pids) {
    // utime, stime, and cutime and cstime of children that were waited for: proc(5), fields 14 to 17.
    const fields = statFields(member)
    ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    for (const thread of list(`/proc/${member}/task`)) {
      const [running, waiting] = read(`/proc/${member}/task/${thread}/schedstat`).split(' ').map(Number)
      if (running && waiting !== undefined) threads.set(`${member}/${thread}`, { running, waiting })
    }
  }
  return { threads, ticks: ticks * tick }
}

export function cpuBetween(before: CpuReading, after: CpuReading): CpuUse {
  let exact = 0
  let busiest: ThreadTimes = { running: 0, waiting: 0 }
  for (const [thread, now] of after.threads) {
    const then = before.threads.get(thread) ?? { running: 0, waiting: 0 }
    const use = { running: now.running - then.running, waiting: now.waiting - then.waiting }
    exact += use.running
    if (use.running > busiest.running) busiest = use
  }
  const coarse = after.ticks - before.ticks
  // A thread that ended in between is missing from the exact sum; two ticks is what rounding can explain.
  const running = exact > 0 && coarse - exact <= 2 * tick ? exact : coarse
  return { running, waiting: Math.max(0, busiest.waiting - (exact - busiest.running)) }
}

/** True when the kernel keeps CPU time by the nanosecond; otherwise a window needs 2 s for an error below 1 %. */
export function hasExactCpu(): boolean {
  return readCpu(process.pid).threads.size > 0
}

/** Resident memory in bytes (`VmRSS`). */
export function readMemory(pid: number, mark?: string): number {
  let bytes = 0
  for (const member of familyOf(pid, mark)) {
    const match = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${member}/status`))
    bytes += Number(match?.[1] ?? 0) * 1024
  }
  return bytes
}

/** That without the pages of files: code that runs for the first time is no memory of what it serves. */
export function readOwnMemory(pid: number, mark?: string): number {
  let bytes = 0
  for (const member of familyOf(pid, mark)) {
    const status = read(`/proc/${member}/status`)
    for (const [, kilobytes] of status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm))
      bytes += Number(kilobytes) * 1024
  }
  return bytes
}

/** A process and its descendants, and those that left them: their environment still has the mark. */
export function familyOf(pid: number, mark?: string): number[] {
  const family = new Set([pid, ...descendants(pid)])
  if (mark === undefined) return [...family]
  for (const name of list('/proc')) {
    const member = Number(name)
    if (!Number.isInteger(member) || family.has(member) || !isMarked(member, mark)) continue
    for (const one of [member, ...descendants(member)]) family.add(one)
  }
  return [...family]
}

function isMarked(pid: number, mark: string): boolean {
  return read(`/proc/${pid}/environ`).split('\0').includes(mark)
}

/** Children of a process, their children, and so on. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of list('/proc')) {
    const member = Number(name)
    if (!Number.isInteger(member)) continue
    const parent = Number(statFields(member)[1])
    const siblings = children.get(parent)
    if (siblings) siblings.push(member)
    else children.set(parent, [member])
  }
  const found: number[] = []
  const visit = (parent: number): void => {
    for (const child of children.get(parent) ?? []) {
      found.push(child)
      visit(child)
    }
  }
  visit(pid)
  return found
}

/** Fields of /proc/pid/stat from the third on: the second is the program's name and may hold anything. */
function statFields(pid: number): string[] {
  const text = read(`/proc/${pid}/stat`)
  return text
    .slice(text.lastIndexOf(')') + 2)
    .trim()
    .split(' ')
}

/** A process may end at any moment; what cannot be read any more counts as nothing. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}
