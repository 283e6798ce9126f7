/** All attacks, in the order of the table. */
import type { Attack } from './attack.ts'
import { bombs } from './attacks/bombs.ts'
import { floods } from './attacks/floods.ts'
import { holds } from './attacks/holds.ts'
import { requests } from './attacks/requests.ts'
import { resets } from './attacks/resets.ts'

export const attacks: readonly Attack[] = [...resets, ...floods, ...bombs, ...holds, ...requests]
