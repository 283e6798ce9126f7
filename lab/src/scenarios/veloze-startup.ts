import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'
import { greetProofs } from './veloze.ts'

export const velozeStartup: Scenario = {
  name: 'veloze-startup',
  title: 'Startup',
  about: 'From before the process is spawned to its first whole reply to GET /, tried every ms.',
  document: { name: 'veloze', command: 'npm test' },
  program: 'greet',
  headline: 'start',
  variants: [
    {
      name: 'default',
      lane: 'no load',
      measure: { kind: 'startup', load: load(get('/', '{"hello":"world"}')) },
    },
  ],
  proofs: greetProofs,
}
