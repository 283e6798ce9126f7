import type { Scenario, Variant } from '../scenario.ts'
import { load } from './load.ts'

function variant(name: string, connections: number): Variant {
  return {
    name,
    lane: 'plain',
    measure: {
      kind: 'publish',
      load: load([], { connections }),
      messages: { path: '/room', bytes: 128, type: 'text' },
    },
  }
}

/** Ours: what it costs to send one message to many. */
export const wsPublish: Scenario = {
  name: 'ws-publish',
  title: 'WebSocket: publish',
  about:
    'One member of a room sends text of 128 bytes, which all others must get and it itself must not; the next follows when all have it.',
  document: null,
  program: 'sockets',
  headline: 'deliveryCpu',
  sweep: true,
  variants: [variant('10000 subscribers', 10_000), variant('100 subscribers', 100)],
  proofs: [],
}
