import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'
import { greetProofs } from './veloze.ts'

const kitty = get('/kitty', '{"hello":"kitty"}')

/** The document says `localhost:3000`; its code asks `/kitty`, a route with a parameter, with pipelining 10. */
export const velozeBasic: Scenario = {
  name: 'veloze-basic',
  title: 'Basic group',
  about: 'GET /kitty, a route with a parameter: {"hello":"kitty"}.',
  document: { name: 'veloze', command: 'autocannon -c 100 -d 10 -p 10 localhost:3000' },
  program: 'greet',
  headline: 'cpu',
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(kitty) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(kitty, { pipelining: 10 }) },
    },
  ],
  proofs: greetProofs,
}
