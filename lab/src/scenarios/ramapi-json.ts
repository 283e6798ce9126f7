import type { Scenario } from '../scenario.ts'
import { hello, helloProofs } from './hello.ts'
import { get, load } from './load.ts'

const request = get('/json', hello)

/** The smallest reply from a handler. The document has neither pipelining nor an open loop: those lanes are our own. */
export const ramapiJson: Scenario = {
  name: 'ramapi-json',
  title: 'Simple JSON',
  about: 'GET /json, a static route and {"message":"Hello World"} from a handler.',
  document: { name: 'ramapi', command: 'wrk -t12 -c100 -d30s http://localhost:3000/json' },
  program: 'hello',
  headline: 'cpu',
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(request) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(request, { pipelining: 10 }) },
    },
    { name: 'open loop', lane: 'open loop', measure: { kind: 'steady', load: load(request), share: 0.2 } },
  ],
  proofs: helloProofs,
}
