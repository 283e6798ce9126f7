/** A supervisor as limits and the bus of an app see it: they ask it for nothing but these. */
import { setSupervision, type Supervision } from '../../src/worker/supervision.ts'

export function superviseWith(table: number | null, more: Partial<Supervision> = {}): void {
  const supervision: Partial<Supervision> = { worker: 0, workers: 4, table, onMessage() {}, ...more }
  setSupervision(supervision as Supervision)
}

/** Has this process be one of its own again. */
export function unsupervise(): void {
  setSupervision(null as unknown as Supervision)
}
