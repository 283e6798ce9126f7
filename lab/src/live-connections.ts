/** How many connections of a process are open, from Linux's /proc. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

/** ESTABLISHED, as /proc/net/tcp writes it: neither side has closed it. */
const established = '01'

/** Those to that port over IPv4. 0 for a process that has ended. */
export function liveConnections(pid: number, port: number): number {
  const ends = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  try {
    const sockets = new Set(
      readdirSync(`/proc/${pid}/fd`).flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(pid, fd))?.[1] ?? []),
    )
    return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
      .split('\n')
      .filter((line) => {
        // proc_net_tcp: number, local and remote address, state, queues, timer, retransmissions, uid, timeout, inode.
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
