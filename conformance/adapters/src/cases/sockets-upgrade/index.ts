/** How a request becomes a WebSocket, and what refuses it. */
import type { Kit } from '../../kit.ts'
import { handshakes } from './handshakes.ts'
import { socketRoutes } from './routes.ts'
import { socketOrigins } from './origins.ts'
import { socketRefusals } from './refusals.ts'
import { upgradedConnections } from './connections.ts'

export function socketUpgrades(kit: Kit): void {
  handshakes(kit)
  socketRoutes(kit)
  socketOrigins(kit)
  socketRefusals(kit)
  upgradedConnections(kit)
}
