/** Connections of HTTP/1: kept, pipelined, refused and ended. */
import type { Kit } from '../../kit.ts'
import { keptConnections } from './keep-alive.ts'
import { connectionsAfterRefusals } from './refusals.ts'
import { pipelinedConnections } from './pipelining.ts'
import { connectionsWithUnreadBodies } from './unread-bodies.ts'

export function connections(kit: Kit): void {
  keptConnections(kit)
  connectionsAfterRefusals(kit)
  pipelinedConnections(kit)
  connectionsWithUnreadBodies(kit)
}
