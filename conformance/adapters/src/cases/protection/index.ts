/** Plugins that protect an app. */
import type { Kit } from '../../kit.ts'
import { refusedRequests } from './refusals.ts'
import { protectedReplies } from './replies.ts'

export function protection(kit: Kit): void {
  refusedRequests(kit)
  protectedReplies(kit)
}
