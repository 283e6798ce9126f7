import type { Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** Ours: what a line for each request costs that goes to a file; lines are gathered for 50 ms or 64 KB. */
export const accessLog: Scenario = {
  name: 'access-log',
  title: 'An access log',
  about:
    'GET /logged, which leaves a line in a file with method, path and status, and GET /none, which does not.',
  document: null,
  program: 'journal',
  headline: 'cpu',
  variants: [
    { name: 'log', lane: 'plain', measure: { kind: 'load', load: load(get('/logged', hello)) } },
    {
      name: 'none',
      lane: 'plain',
      measure: { kind: 'load', load: load(get('/none', hello)) },
      logs: false,
      proofs: [{ path: '/none', status: 200, reply: hello }],
    },
  ],
  logs: /GET.*\/logged.*200/,
  proofs: [{ path: '/logged', status: 200, reply: hello }],
}
