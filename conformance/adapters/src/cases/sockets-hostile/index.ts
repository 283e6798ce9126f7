/** Clients that mean harm, and their neighbour. */
import type { Kit } from '../../kit.ts'
import { hostileFrames } from './frames.ts'
import { socketFloods } from './floods.ts'

export function hostileSockets(kit: Kit): void {
  hostileFrames(kit)
  socketFloods(kit)
}
