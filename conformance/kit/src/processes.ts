/** Processes that a test has started. */

/** Says whether there is a process of this id; a zombie counts. */
export function processExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
