import type { Scenario } from '../scenario.ts'

/** The smallest reply from a handler. */
export const json: Scenario = {
  name: 'json',
  about: 'GET /json, a static route and {"message":"Hello World"}',
  program: 'json',
  exchange: { path: '/json', status: 200, body: '{"message":"Hello World"}' },
  proofs: [],
  warmup: 1,
}
