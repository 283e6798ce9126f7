import type { Scenario } from '../scenario.ts'
import { helloLoad, openLoop } from './open-loop.ts'

export const curve: Scenario = {
  ...openLoop,
  name: 'curve',
  title: 'Latency against load',
  about:
    'GET /json at 10 to 95 % of what the server can do, an open loop; the latencies of the table are at half of that, which is another rate for each.',
  headline: 'capacity',
  variants: [
    {
      name: 'default',
      lane: 'open loop',
      measure: { kind: 'curve', load: helloLoad, shares: [0.1, 0.25, 0.5, 0.75, 0.9, 0.95] },
    },
  ],
}
