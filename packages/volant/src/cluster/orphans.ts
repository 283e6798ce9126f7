/** What the first process of a container owes to processes whose parents have ended: it takes their exit status. */
import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import type { SupervisorAddon } from '@volant/engine/supervisor'

export class Orphans {
  readonly #addon: SupervisorAddon
  /** The children that Node.js waits for itself. */
  readonly #children = new Set<ChildProcess>()

  constructor(addon: SupervisorAddon) {
    this.#addon = addon
    if (process.pid === 1)
      subscribe('child_process', (message) => this.#keep(message as { process: ChildProcess }))
  }

  #keep({ process: child }: { process: ChildProcess }): void {
    this.#children.add(child)
    child.once('exit', () => this.#children.delete(child))
    child.once('error', () => {
      if (child.pid === undefined) this.#children.delete(child)
    })
  }

  /** Takes the status of those that have ended. Is called every second. */
  reap(): void {
    if (process.pid === 1) this.#addon.reap(Float64Array.from(this.#children, ({ pid }) => pid ?? 0))
  }
}
