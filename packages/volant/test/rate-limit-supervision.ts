/** A supervisor as limits see it: they ask it for nothing but these. */
import { setSupervision, type Supervision } from '../src/worker/supervision.ts'

export function superviseWith(table: number | null, more: Partial<Supervision> = {}): void {
  setSupervision({ worker: 0, workers: 4, table, ...more } as Supervision)
}
