/** Ours: what a parameter and what three middlewares cost. The bars compare the two variants of each. */
import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

// The two requests are of the same length, and so are their replies.
export const param: Scenario = {
  name: 'param',
  title: 'A parameter',
  about: 'GET /hi/Ada, whose parameter is sent back, and GET /static, which has none.',
  document: null,
  program: 'param',
  headline: 'cpu',
  variants: [
    { name: 'static', lane: 'plain', measure: { kind: 'load', load: load(get('/static', '{"hi":"Ada"}')) } },
    { name: 'param', lane: 'plain', measure: { kind: 'load', load: load(get('/hi/Ada', '{"hi":"Ada"}')) } },
  ],
  proofs: [
    { path: '/hi/Ada', status: 200, reply: '{"hi":"Ada"}' },
    { path: '/static', status: 200, reply: '{"hi":"Ada"}' },
    { path: '/hi/Grace%20H', status: 200, reply: '{"hi":"Grace H"}' },
    { path: '/hi', status: 404 },
  ],
}

// Cross-origin, so that a CORS middleware has something to answer.
const headers = { origin: 'https://example.com' }
const hello = '{"message":"Hello World"}'

/** The reply's two more header fields are part of what three middlewares cost. */
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
    { path: '/none', headers, status: 200, reply: '{"message":"Hello World"}' },
    {
      path: '/three',
      headers,
      status: 200,
      reply: '{"message":"Hello World"}',
      fields: { 'x-request-id': /./, 'access-control-allow-origin': /^\*$/ },
      unique: 'x-request-id',
    },
  ],
}
