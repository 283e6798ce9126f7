import type { Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

// Cross-origin, so that a CORS middleware has something to answer.
const headers = { origin: 'https://example.com' }

/** Ours: what three middlewares cost; the reply's two more header fields are part of it. */
export const middleware: Scenario = {
  name: 'middleware',
  title: 'Three middlewares',
  about: 'GET /three, behind a request id, CORS and one that sets what the handler replies, and GET /none.',
  document: null,
  program: 'middleware',
  headline: 'cpu',
  variants: [
    { name: 'none', lane: 'plain', measure: { kind: 'load', load: load(get('/none', hello, { headers })) } },
    {
      name: 'three',
      lane: 'plain',
      measure: { kind: 'load', load: load(get('/three', hello, { headers })) },
    },
  ],
  proofs: [
    { path: '/none', headers, status: 200, reply: hello },
    {
      path: '/three',
      headers,
      status: 200,
      reply: hello,
      fields: { 'x-request-id': /./, 'access-control-allow-origin': /^\*$/ },
      unique: 'x-request-id',
    },
  ],
}
