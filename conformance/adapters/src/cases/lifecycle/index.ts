/** Listening and closing. */
import type { Kit } from '../../kit.ts'
import { listening } from './listening.ts'
import { closing } from './closing.ts'
import { signalsAndExit } from './processes.ts'

export function lifecycle(kit: Kit): void {
  listening(kit)
  closing(kit)
  signalsAndExit(kit)
}
