import type { Scenario } from '../scenario.ts'

/** What a parameter costs: the two requests are of the same length, and so are their replies. */
export const parameterRoute: Scenario = {
  name: 'param',
  about: 'GET /hi/Ada, a route with a parameter that is sent back',
  program: 'param',
  exchange: { path: '/hi/Ada', status: 200, body: '{"hi":"Ada"}' },
  proofs: [
    { path: '/hi/Grace%20H', status: 200, body: '{"hi":"Grace H"}' },
    { path: '/hi', status: 404 },
  ],
  warmup: 1,
}

export const staticRoute: Scenario = {
  name: 'static',
  about: 'GET /static, the base of param: same server, same lengths, no parameter',
  program: 'param',
  exchange: { path: '/static', status: 200, body: '{"hi":"Ada"}' },
  proofs: parameterRoute.proofs,
  warmup: 1,
}
