import type { Scenario } from '../scenario.ts'
import { helloLoad, openLoop } from './open-loop.ts'

export const highest: Scenario = {
  ...openLoop,
  name: 'highest',
  title: 'Highest rate within 10 ms',
  about: 'The highest rate of GET /json whose p99.9 stays at 10 ms or less.',
  headline: 'highest',
  variants: [
    { name: 'default', lane: 'open loop', measure: { kind: 'highest', load: helloLoad, limit: 10 } },
  ],
}
