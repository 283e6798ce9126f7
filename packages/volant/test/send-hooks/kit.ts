/** Apps with onSend hooks, sources whose end is counted, and what was reported. */
import type { Chunk } from '../../src/index.ts'
import { Kit } from '../kit.ts'

export const kit = new Kit()

/** Gives the messages that were reported since the last call. */
export function reported(): string[] {
  return kit.reports.splice(0).map((error) => (error as Error).message)
}

/** Gives a source, and what became of it. */
export function source(chunks: readonly Chunk[]): {
  stream: AsyncIterableIterator<Chunk>
  ended: () => number
} {
  let ended = 0
  let at = 0
  const stream: AsyncIterableIterator<Chunk> = {
    next: async () => {
      const value = chunks[at++]
      return value === undefined ? { done: true, value } : { done: false, value }
    },
    return: async () => {
      ended++
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => stream,
  }
  return { stream, ended: () => ended }
}
