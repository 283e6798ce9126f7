/** What cases about the end of a supervisor share. */
import { appOf, type Cluster } from '../../src/index.ts'

/** Connections may be idle for half a second once their worker drains. */
export const soon = { 'main.js': appOf({ drainIdle: 500 }) }

export function drains(cluster: Cluster): Promise<unknown> {
  return cluster.until(({ workers }) => workers.some(({ state }) => state === 'draining'), 'the drain')
}
