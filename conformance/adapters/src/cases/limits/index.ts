/** Every limit of HTTP: one below, at, and one above. */
import type { Kit } from '../../kit.ts'
import { bodyLimits } from './bodies.ts'
import { headLimits } from './heads.ts'
import { loadLimits } from './load.ts'

export function limits(kit: Kit): void {
  bodyLimits(kit)
  headLimits(kit)
  loadLimits(kit)
}
