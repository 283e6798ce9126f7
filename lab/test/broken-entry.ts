/** Entries whose server is one of `test/servers`, and how they are measured here: short, on any free port. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chooseCores } from '../src/cores.ts'
import { type Entry, readEntry } from '../src/entry.ts'
import { loadPath, packageFolder } from '../src/folders.ts'
import type { Assignment, Finding, Method } from '../src/measures/measurement.ts'
import { measure } from '../src/measures/index.ts'
import { scenarioOf, variantOf } from '../src/scenario.ts'

/** Why nothing can be measured here, or false. */
export const skip: string | false =
  process.platform !== 'linux'
    ? 'the lab needs Linux'
    : existsSync(loadPath)
      ? false
      : 'the load generator is not built (npm run lab builds it)'

const serversFolder = fileURLToPath(new URL('../../test/servers', import.meta.url))

/** Runs `test/servers/<name>.mjs`; `honest` is the entry `node`, which is right in everything. */
export function entryRunning(name: string, environment: Readonly<Record<string, string>> = {}): Entry {
  const honest = readEntry(join(packageFolder, 'entries/node'), name)
  if (name === 'honest') return { ...honest, environment }
  return { ...honest, folder: serversFolder, server: join(serversFolder, `${name}.mjs`), environment }
}

export const shortMethod: Method = {
  warmup: 0.2,
  window: 0.3,
  windowAsked: true,
  generator: 'load',
  cores: chooseCores(),
  port: 0,
  quick: true,
  soak: null,
}

/** `scenario`, or `scenario:variant`. */
export function assignment(entry: Entry, asked: string, changes: Partial<Method> = {}): Assignment {
  const [name, variantName] = asked.split(':') as [string, string | undefined]
  const scenario = scenarioOf(name)
  const variant = variantOf(scenario, variantName ?? (scenario.variants[0]?.name as string))
  return { entry, scenario, variant, method: { ...shortMethod, ...changes } }
}

export function measured(entry: Entry, asked: string, changes: Partial<Method> = {}): Promise<Finding> {
  return measure(assignment(entry, asked, changes))
}

/**
 * Measures a cell again, for longer, when Little's law discards it, nothing was answered in its window, or the lab read
 * the CPU time at its end alone: other work on the machine can make it so. No machine is so slow that a request waits
 * for a minute.
 */
export async function undisturbed(assigned: Assignment): Promise<Finding> {
  for (let window = 0.5; ; window *= 2) {
    const method = { ...assigned.method, warmup: window, window, timeout: 60 }
    const finding = await measure({ ...assigned, method })
    if (!isDisturbed(finding) || window > 2) return finding
    console.log(`made again: a cell of ${assigned.scenario.name} in ${window} s, ${finding.reason}`)
  }
}

function isDisturbed({ status, reason = '' }: Finding): boolean {
  return (
    status === 'discarded' || /^(?:nothing was answered in the window|its processes used no CPU)/.test(reason)
  )
}
