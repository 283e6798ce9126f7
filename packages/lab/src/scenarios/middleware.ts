import type { Exchange, Scenario } from '../scenario.ts'

// Cross-origin, so that a CORS middleware has something to answer.
const headers = { origin: 'https://example.com' }
const body = '{"message":"Hello World"}'

const three = {
  path: '/three',
  headers,
  status: 200,
  body,
  fields: { 'x-request-id': /./, 'access-control-allow-origin': /^\*$/ },
  unique: 'x-request-id',
} satisfies Exchange

/** What three middlewares cost; the reply's two more header fields are part of that. */
export const threeMiddlewares: Scenario = {
  name: 'middleware',
  about: 'GET /three, behind a request id, CORS and one that sets what the handler replies',
  program: 'middleware',
  exchange: three,
  proofs: [],
  warmup: 1,
}

export const noMiddleware: Scenario = {
  name: 'none',
  about: 'GET /none, the base of middleware: same server, same body',
  program: 'middleware',
  exchange: { path: '/none', headers, status: 200, body },
  proofs: [three],
  warmup: 1,
}
