/** The entry `volant/cluster`: several processes that serve one app. */
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
}
