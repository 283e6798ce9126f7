import type { Scenario } from '../scenario.ts'
import { helloLoad, openLoop } from './open-loop.ts'

export const overload: Scenario = {
  ...openLoop,
  name: 'overload',
  title: 'Goodput at 200 % load',
  about:
    'Right replies within 200 ms, when twice as much is asked as the server can do, for five times as long.',
  headline: 'goodputShare',
  variants: [
    {
      name: 'default',
      lane: 'open loop',
      // So many connections that requests wait in the server, and not all of them before it.
      measure: {
        kind: 'overload',
        load: { ...helloLoad, connections: 1_000 },
        factor: 2,
        limit: 200,
      },
    },
  ],
}
