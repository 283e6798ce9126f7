/** Streamed replies. */
import type { Kit } from '../../kit.ts'
import { streamedChunks } from './chunks.ts'
import { returnedGenerators } from './returned-generators.ts'
import { slowClients } from './slow-clients.ts'

export function streams(kit: Kit): void {
  streamedChunks(kit)
  returnedGenerators(kit)
  slowClients(kit)
}
