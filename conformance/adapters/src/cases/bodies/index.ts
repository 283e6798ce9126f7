/** Bodies of requests: parsed, checked, refused and streamed. */
import type { Kit } from '../../kit.ts'
import { parsedBodies } from './parsing.ts'
import { bodiesOfWebRequests } from './web-forms.ts'
import { bodiesBeforeTheyAreRead } from './before-body.ts'
import { streamedBodies } from './streams.ts'

export function bodies(kit: Kit): void {
  parsedBodies(kit)
  bodiesOfWebRequests(kit)
  bodiesBeforeTheyAreRead(kit)
  streamedBodies(kit)
}
