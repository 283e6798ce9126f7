/** The entry `volant/cluster`: several processes that serve one app. */
import { VolantError } from '../errors/errors.ts'
import type { ClusterInfo } from '../worker/messages.ts'
import { supervision } from '../worker/supervision.ts'

export { supervise, type Supervised } from './supervise.ts'
export type { SuperviseOptions } from './options.ts'
export type { Beat, ClusterInfo, RestartReason, WorkerInfo, WorkerState } from '../worker/messages.ts'

/** The place of this process among the workers of a supervisor. */
export const worker: {
  /** True in a worker of a supervisor. */
  readonly isSupervised: boolean
  /** The number of this worker, from 0; the one that replaces it has the same. 0 without a supervisor. */
  readonly id: number
  /** How many workers there are; 1 without a supervisor. */
  readonly count: number
  /**
   * Gives all workers, as the supervisor sees them: their states, their last beats and the restarts. Resolves with null
   * without a supervisor. Rejects if the supervisor has ended; this worker then ends as well.
   */
  cluster(): Promise<ClusterInfo | null>
  /**
   * Has all workers replaced, one after the other, as SIGHUP of the supervisor does; `isRolling` of `cluster()` says for
   * how long. This worker is one of them: it answers what is left, and ends. Throws `E_UNSUPPORTED` without a supervisor.
   */
  roll(): void
} = {
  get isSupervised() {
    return supervision() !== null
  },
  get id() {
    return supervision()?.worker ?? 0
  },
  get count() {
    return supervision()?.workers ?? 1
  },
  cluster() {
    return supervision()?.info() ?? Promise.resolve(null)
  },
  roll() {
    const supervisor = supervision()
    if (supervisor === null) {
      throw new VolantError(
        'E_UNSUPPORTED',
        'worker.roll() replaces the workers of a supervisor, and this process has none: start the app with volant start, or by supervise()',
      )
    }
    supervisor.roll()
  },
}
