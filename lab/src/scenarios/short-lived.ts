import type { Scenario } from '../scenario.ts'
import { hello, helloProofs } from './hello.ts'
import { get, load } from './load.ts'

export const shortLived: Scenario = {
  name: 'short-lived',
  title: 'Short-lived connections',
  about: 'GET /json on a new connection each time.',
  document: null,
  program: 'hello',
  headline: 'cpu',
  variants: [
    {
      name: 'default',
      lane: 'new connections',
      measure: { kind: 'load', load: load(get('/json', hello), { connection: 'close', connections: 50 }) },
    },
  ],
  proofs: helloProofs,
}
