/** Reads what Linux says of processes (proc(5)). */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { eventually } from '@volant/test-kit'

/** Gives whether a process runs; a zombie does not. */
export function runs(pid: number): boolean {
  const state = stateOf(pid)
  return state !== null && state !== 'Z'
}

/** Gives the letter that stands for its state, `Z` for a zombie; null if there is none. */
export function stateOf(pid: number): string | null {
  try {
    return /^\d+ \(.*\) (\w)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null
  } catch {
    return null
  }
}

/** Gives the children of a process, zombies among them. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, ppid] = /^\d+ \(.*\) \w (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
      return Number(ppid) === parent ? [Number(name)] : []
    } catch {
      return []
    }
  })
}

/** Gives those of these processes that are still there, zombies among them. */
export function left(pids: readonly number[]): number[] {
  return pids.filter((pid) => stateOf(pid) !== null)
}

/** Waits until none of these processes is there, zombies among them. */
export async function gone(pids: readonly number[]): Promise<void> {
  await eventually(() => left(pids).length === 0, `the processes ${pids.join()} are gone`)
}

/** Gives whether nobody listens at a port. */
export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
