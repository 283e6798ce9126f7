/** Close while clients hold connections: who is still answered, what the replies say, and when it ends. */
import type { Kit } from '../../kit.ts'
import { drainOfIdleConnections } from './idle.ts'
import { drainOfRequests } from './requests.ts'
import { drainOfReplies } from './replies.ts'
import { endsOfDrain } from './ends.ts'

export function drain(kit: Kit): void {
  drainOfIdleConnections(kit)
  drainOfRequests(kit)
  drainOfReplies(kit)
  endsOfDrain(kit)
}
