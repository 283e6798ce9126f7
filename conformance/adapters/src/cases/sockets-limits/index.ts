/** Every limit of WebSockets: one below, at, one above; what happens past it, and that others are unharmed. */
import type { Kit } from '../../kit.ts'
import { messageLimits } from './messages.ts'
import { socketCounts } from './counts.ts'
import { socketBuffers } from './buffers.ts'

export function socketLimits(kit: Kit): void {
  messageLimits(kit)
  socketCounts(kit)
  socketBuffers(kit)
}
