/** Which core the server runs on and which the generator. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isInstalled } from './machine.ts'

export interface Cores {
  /** Null when nothing is pinned. */
  readonly server: number | null
  readonly generator: number | null
  /** For the reader: how it was done, or why it was not. */
  readonly label: string
}

/** Two cores this process may use, of different physical cores where there are any. */
export function chooseCores(): Cores {
  if (!isInstalled('taskset')) return unpinned('taskset is missing (package util-linux)')
  const allowed = allowedCores()
  const server = allowed[0]
  if (server === undefined || allowed.length < 2) return unpinned('only one core may be used')
  const siblings = siblingsOf(server)
  const generator = allowed.slice(1).find((core) => !siblings.includes(core))
  if (generator !== undefined) {
    return { server, generator, label: `server on core ${server}, generator on core ${generator}` }
  }
  const sibling = allowed[1] as number
  return {
    server,
    generator: sibling,
    label: `server on core ${server}, generator on its hyper-thread ${sibling}`,
  }
}

/** The cores that this process may use. */
export function allowedCores(): number[] {
  return parseCpuList(statusField('Cpus_allowed_list'))
}

/** Moves the lab itself to the generator's core: what it does between measurements disturbs no server. */
export function stepAside(cores: Cores): void {
  if (cores.generator === null) return
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(cores.generator), String(process.pid)])
}

/** Linux's list format: `0-3,8` is 0, 1, 2, 3 and 8. */
export function parseCpuList(text: string): number[] {
  return text
    .trim()
    .split(',')
    .filter(Boolean)
    .flatMap((range) => {
      const [first, last] = range.split('-').map(Number) as [number, number | undefined]
      return Array.from({ length: (last ?? first) - first + 1 }, (_, offset) => first + offset)
    })
}

function unpinned(reason: string): Cores {
  return { server: null, generator: null, label: `not pinned: ${reason}` }
}

function siblingsOf(core: number): number[] {
  try {
    return parseCpuList(
      readFileSync(`/sys/devices/system/cpu/cpu${core}/topology/thread_siblings_list`, 'utf8'),
    )
  } catch {
    return [core]
  }
}

function statusField(name: string): string {
  const status = readFileSync('/proc/self/status', 'utf8')
  return new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? ''
}
