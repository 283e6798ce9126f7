import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'
import { health, nessen } from './nessen.ts'

export const nessenHealth: Scenario = {
  ...nessen,
  name: 'nessen-health',
  title: 'Health, no middleware',
  about: 'GET /health: OK as text.',
  headline: 'cpu',
  document: { name: 'nessen', command: 'autocannon -c 100 -d 30 -p 10 http://localhost:3000/health' },
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(health) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(health, { pipelining: 10 }) },
    },
  ],
}
