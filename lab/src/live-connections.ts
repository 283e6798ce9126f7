/** Counts the open connections of a process, from Linux's /proc. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

/** The state ESTABLISHED in /proc/net/tcp: neither side has closed the connection. */
const established = '01'

/** Counts the connections to that port over IPv4. Gives 0 for a process that has ended. */
export function liveConnections(pid: number, port: number): number {
  const ends = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  try {
    const sockets = new Set(
      readdirSync(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(pid, fd))?.[1] ?? []),
    )
    return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
      .split('\n')
      .filter((line) => {
        // The columns are, by proc_net_tcp: number, local and remote address, state, queues, timer, retransmissions,
        // uid, timeout, inode.
        const [, , remote, state, , , , , , inode] = line.trim().split(/\s+/)
        return state === established && remote?.endsWith(ends) && sockets.has(String(inode))
      }).length
  } catch {
    return 0
  }
}

function linkOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`)
  } catch {
    return ''
  }
}
