/** Replies that are compressed, and requests that are decompressed. */
import type { Kit } from '../../kit.ts'
import { compressedReplies } from './replies.ts'
import { compressedStreams } from './streams.ts'
import { compressedRequests } from './requests.ts'

export function compression(kit: Kit): void {
  compressedReplies(kit)
  compressedStreams(kit)
  compressedRequests(kit)
}
