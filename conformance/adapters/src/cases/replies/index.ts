/** Replies of handlers. */
import type { Kit } from '../../kit.ts'
import { replyValues } from './values.ts'
import { replyHeads } from './heads.ts'
import { requestInReplies } from './requests.ts'

export function replies(kit: Kit): void {
  replyValues(kit)
  replyHeads(kit)
  requestInReplies(kit)
}
