import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const users = '"users":[{"id":1,"name":"Alice"},{"id":2,"name":"Bob"}]}'
const request = get('/api/users', null, {
  headers: { origin: 'https://example.com' },
  expect: { status: 200, body: null, length: null, contains: users },
})

/**
 * The document gives its own framework and Express a request log and Fastify none; here all have one, to a file, so
 * that the log is proven and costs nobody a terminal.
 */
export const ramapiStack: Scenario = {
  name: 'ramapi-stack',
  title: 'Middleware stack',
  about: 'GET /api/users behind a request log, CORS and a random request id that is in the reply.',
  document: { name: 'ramapi', command: 'wrk -t12 -c100 -d30s http://localhost:3000/api/users' },
  program: 'stack',
  headline: 'cpu',
  variants: [{ name: 'default', lane: 'plain', measure: { kind: 'load', load: load(request) } }],
  logs: /./,
  proofs: [
    {
      path: '/api/users',
      headers: { origin: 'https://example.com' },
      status: 200,
      reply: /^\{"requestId":"0\.[0-9a-z]+","users":\[\{"id":1,"name":"Alice"\},\{"id":2,"name":"Bob"\}\]\}$/,
      fields: { 'access-control-allow-origin': /^\*$/ },
    },
  ],
}
