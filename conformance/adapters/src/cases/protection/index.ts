/** Plugins that protect an app. */
import type { Kit } from '../../kit.ts'
import { refusedRequests } from './refusals.ts'
import { protectedReplies } from './replies.ts'
import { handlerTimeouts } from './timeouts.ts'

export function protection(kit: Kit): void {
  refusedRequests(kit)
  handlerTimeouts(kit)
  protectedReplies(kit)
}
