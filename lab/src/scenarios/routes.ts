import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

export const routes: Scenario = {
  name: 'routes',
  title: 'Number of routes',
  about: 'One of 10, 100, 1,000 or 10,000 routes with a parameter, another one for each request.',
  document: null,
  program: 'routes',
  headline: 'cpu',
  variants: [10, 100, 1_000, 10_000].map((count) => ({
    name: String(count),
    lane: 'plain' as const,
    long: count === 100 || count === 10_000,
    environment: { ROUTES: String(count) },
    measure: {
      kind: 'load' as const,
      load: load(get(`/api/v1/resource{0..${count - 1}}/{nonce}`, '{"resource":{#1},"id":"{nonce}"}')),
    },
  })),
  proofs: [
    { path: '/api/v1/resource0/a', status: 200, reply: '{"resource":0,"id":"a"}' },
    { path: '/api/v1/resource9/b', status: 200, reply: '{"resource":9,"id":"b"}' },
  ],
}
