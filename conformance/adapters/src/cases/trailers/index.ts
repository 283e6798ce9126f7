/** Trailer fields of requests and of replies (RFC 9110 §6.5). */
import type { Kit } from '../../kit.ts'
import { trailersOfReplies } from './replies.ts'
import { trailersOfRequests } from './requests.ts'
import { trailersOfHttp1 } from './http1.ts'

export function trailers(kit: Kit): void {
  trailersOfReplies(kit)
  trailersOfRequests(kit)
  trailersOfHttp1(kit)
}
