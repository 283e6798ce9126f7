/** The client leaves at every point of a request and of its reply. */
import type { Kit } from '../../kit.ts'
import { signalsOfAborts } from './signals.ts'
import { abortsAtAnyByte } from './cuts.ts'
import { abortsOfUploads } from './uploads.ts'
import { abortsOfHalfClosedClients } from './half-closed.ts'

export function aborts(kit: Kit): void {
  signalsOfAborts(kit)
  abortsAtAnyByte(kit)
  abortsOfUploads(kit)
  abortsOfHalfClosedClients(kit)
}
