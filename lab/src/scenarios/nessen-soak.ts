import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'
import { health, nessen } from './nessen.ts'

export const nessenSoak: Scenario = {
  ...nessen,
  name: 'nessen-soak',
  title: 'Memory soak',
  about:
    'GET /health for ten minutes, memory every second; the slope is that of a line through the second half.',
  headline: 'slope',
  document: { name: 'nessen', command: 'autocannon -c 100 -d 600 http://localhost:3000/health' },
  variants: [{ name: 'default', lane: 'plain', measure: { kind: 'soak', load: load(health), seconds: 600 } }],
}
