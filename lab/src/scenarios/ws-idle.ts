import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'

/** Ours: what a socket keeps that says nothing. */
export const wsIdle: Scenario = {
  name: 'ws-idle',
  title: 'WebSocket: 10,000 held',
  about:
    '10,000 sockets got one echo each and say nothing more. Memory is that of the process with them, less that before them, both after garbage collection, over their number. Then one more connects and gets an echo.',
  document: null,
  program: 'sockets',
  headline: 'socketMemory',
  variants: [
    {
      name: 'default',
      lane: 'no load',
      measure: {
        kind: 'held',
        load: load([], { connections: 10_000, warmup: 0, window: 1 }),
        messages: { path: '/ws', bytes: 128, type: 'text' },
      },
      environment: { COLLECT: '1' },
    },
  ],
  proofs: [],
}
