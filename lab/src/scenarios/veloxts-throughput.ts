import type { Scenario } from '../scenario.ts'
import { heavy, veloxts } from './veloxts.ts'

export const veloxtsThroughput: Scenario = {
  ...veloxts,
  name: 'veloxts-throughput',
  title: 'Throughput',
  about: 'GET /api/health with pipelining 10.',
  headline: 'cpu',
  document: { name: 'veloxts', command: 'pnpm bench:throughput' },
  variants: [
    {
      name: 'default',
      lane: 'pipelined',
      measure: {
        kind: 'load',
        get load() {
          return heavy()
        },
      },
    },
  ],
}
