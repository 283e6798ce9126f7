/** Whether what a test needs is there: processes, packages, adapters. */
import { createRequire } from 'node:module'

/** Says whether a process is there; a zombie is. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Says whether a package can be loaded. */
export function isInstalledPackage(name: string): boolean {
  return reasonOf(() => createRequire(import.meta.url).resolve(`${name}/package.json`)) === null
}

/** Gives the message of what `act` throws, such as why an adapter cannot run here, or null. */
export function reasonOf(act: () => unknown): string | null {
  try {
    act()
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
