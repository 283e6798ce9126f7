import type { Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

// Cross-origin, so that a CORS middleware has something to answer.
const headers = { origin: 'https://example.com' }

/** Ours: what a request id in the reply and CORS for any origin cost; the two header fields are part of it. */
export const requestIdCors: Scenario = {
  name: 'request-id-cors',
  title: 'Request id and CORS',
  about: 'GET /both, behind a request id that is in the reply and CORS for any origin, and GET /none.',
  document: null,
  program: 'identified',
  headline: 'cpu',
  variants: [
    { name: 'both', lane: 'plain', measure: { kind: 'load', load: load(get('/both', hello, { headers })) } },
    { name: 'none', lane: 'plain', measure: { kind: 'load', load: load(get('/none', hello, { headers })) } },
  ],
  proofs: [
    {
      path: '/none',
      headers,
      status: 200,
      reply: hello,
      absent: ['x-request-id', 'access-control-allow-origin'],
    },
    {
      path: '/both',
      headers,
      status: 200,
      reply: hello,
      fields: { 'x-request-id': /./, 'access-control-allow-origin': /^\*$/ },
      unique: 'x-request-id',
    },
  ],
}
