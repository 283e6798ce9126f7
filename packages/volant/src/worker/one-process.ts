/** Refuses what keeps state in one process, where there are several. */
import { VolantError } from '../errors/errors.ts'
import { supervision } from './supervision.ts'

/**
 * Throws `E_BAD_OPTION` in one of several workers: what one of them keeps is not there when the next request reaches
 * another. `instead` is what all of them share.
 */
export function refuseWorkers(call: string, what: string, instead: string): void {
  const workers = supervision()?.workers ?? 1
  if (workers < 2) return
  throw new VolantError(
    'E_BAD_OPTION',
    `${call}() keeps ${what} in one process, and there are ${workers} workers: a client whose next request reaches another one would find nothing. Use ${instead}, or start one worker`,
  )
}
