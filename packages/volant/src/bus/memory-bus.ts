/** Makes a bus that stays within one process. */
import type { Bus } from '../types/bus.ts'
import { planBus } from './options.ts'
import { WiredBus } from './wired-bus.ts'

/**
 * Makes a bus that reaches the apps and receivers of this process that are given the same one: for tests, and for code
 * that is to run without a server of a bus.
 *
 *     const bus = memoryBus()
 *     const apps = [createApp({ bus }), createApp({ bus })]
 *
 * Nothing is lost, and receivers run soon after `publish` has returned.
 */
export function memoryBus(): Bus {
  return new WiredBus(null, planBus('memoryBus', {}))
}
