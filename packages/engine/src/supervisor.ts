/**
 * The entry `@volant/engine/supervisor`: what a supervisor and its workers need of the addon. It stands apart, since the
 * other one brings the memory of an engine.
 */
import { loadAddon, type SupervisorAddon } from './load.ts'

export { addressOf } from './address.ts'
export type { Acceptor, AcceptorAddress, SupervisorAddon } from './load.ts'
export { createTable } from './native-table.ts'

/** Gives the functions, or half a sentence that says why there are none. */
export function supervisorAddon(): { addon: SupervisorAddon } | { reason: string } {
  const loaded = loadAddon()
  if ('reason' in loaded) return loaded
  if (loaded.addon.acceptor === undefined) {
    return { reason: 'the engine was built before it could supervise: build it again' }
  }
  return { addon: loaded.addon as SupervisorAddon }
}
