/** The first process of a container takes the exit status of processes whose parents have ended. */
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import type { SupervisorAddon } from '@volant/engine/supervisor'

/** The children that this thread has started since this module was loaded. Node.js takes their status. */
const children = new Set<ChildProcess>()

// A listener for their errors would keep those from being unhandled, so that nothing is listened to but their making.
if (process.pid === 1) {
  subscribe('child_process', (message) => void children.add((message as { process: ChildProcess }).process))
}

/** Takes the status of those that have ended. Is called every second. */
export function reapOrphans(addon: SupervisorAddon): void {
  if (process.pid !== 1) return
  for (const child of children) {
    // Node.js has taken its status, or it could not be started.
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
      children.delete(child)
  }
  addon.reap(Float64Array.from(children, ({ pid }) => pid as number))
}
