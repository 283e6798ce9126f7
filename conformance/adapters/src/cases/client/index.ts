/** The typed client over a socket: streams, hooks, time, retries, redirects, and calls that are given up. */
import type { Kit } from '../../kit.ts'
import { callsOfClients } from './calls.ts'
import { abortsOfClients } from './aborts.ts'
import { retriesOfClients } from './retries.ts'
import { addressesOfClients } from './addresses.ts'

export function client(kit: Kit): void {
  callsOfClients(kit)
  abortsOfClients(kit)
  retriesOfClients(kit)
  addressesOfClients(kit)
}
