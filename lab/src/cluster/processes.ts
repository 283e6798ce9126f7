/** What Linux's /proc says of processes: whether they run, are zombies, and which connections they have. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The state of a process: `R`, `S`, `T` stopped, `Z` zombie and so on; null if there is none of this pid. */
export function stateOf(pid: number): string | null {
  const stat = readOr(`/proc/${pid}/stat`)
  return stat === '' ? null : stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
}

/** True while it has not ended; a zombie has. */
export function isRunning(pid: number): boolean {
  const state = stateOf(pid)
  return state !== null && state !== 'Z' && state !== 'X'
}

/** Zombies whose parent is this process. */
export function zombiesOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      if (!Number.isInteger(pid)) return false
      const stat = readOr(`/proc/${pid}/stat`)
      const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return state === 'Z' && Number(ppid) === parent
    })
}

/** The ports of the clients whose connections to `port` a process has, over IPv4. Empty when it has ended. */
export function clientPortsOf(pid: number, port: number): Set<number> {
  const sockets = new Set(
    list(`/proc/${pid}/fd`).flatMap(
      (fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
    ),
  )
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const found = new Set<number>()
  for (const line of readOr(`/proc/${pid}/net/tcp`).split('\n')) {
    // The columns are, by proc_net_tcp: number, local and remote address, state, queues, timer, retransmissions, uid,
    // timeout, inode.
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/)
    if (local?.endsWith(end) && sockets.has(String(inode)))
      found.add(Number.parseInt(remote?.split(':')[1] ?? '', 16))
  }
  return found
}

/** Proportional memory in bytes (`Pss` of smaps_rollup): a shared page counts by the share of this process. */
export function proportionalMemory(pid: number): number {
  const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readOr(`/proc/${pid}/smaps_rollup`))?.[1]
  return Number(kilobytes ?? Number.NaN) * 1_024
}

/** Memory in bytes that no other process has (`Private_Clean` and `Private_Dirty` of smaps_rollup). */
export function privateMemory(pid: number): number {
  const lines = readOr(`/proc/${pid}/smaps_rollup`).matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)
  return [...lines].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0) * 1_024
}

function readOr(path: string): string {
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

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
