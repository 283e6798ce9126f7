/** Addresses behind proxies. */
import type { Kit } from '../../kit.ts'
import { forwardedFields } from './forwarded.ts'
import { absoluteTargets } from './targets.ts'
import { peers } from './peers.ts'

export function proxy(kit: Kit): void {
  forwardedFields(kit)
  absoluteTargets(kit)
  peers(kit)
}
