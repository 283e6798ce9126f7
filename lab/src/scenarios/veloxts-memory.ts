import type { Scenario } from '../scenario.ts'
import { heavy, veloxts } from './veloxts.ts'

/** From the kernel. What the server says of itself in `/debug/memory` is held against it, and disqualifies when it lies. */
export const veloxtsMemory: Scenario = {
  ...veloxts,
  name: 'veloxts-memory',
  title: 'Memory',
  about: 'Resident memory idle, under load, and 5 s after it.',
  headline: 'idleRss',
  document: { name: 'veloxts', command: 'pnpm bench:memory' },
  variants: [
    {
      name: 'default',
      lane: 'pipelined',
      measure: {
        kind: 'memory',
        get load() {
          return heavy()
        },
        seconds: 10,
        rest: 5,
      },
    },
  ],
}
