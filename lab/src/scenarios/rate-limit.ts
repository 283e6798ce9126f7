import type { Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** Ours: what a rate limit in memory costs that never refuses; a limit of one request shows that it would. */
export const rateLimit: Scenario = {
  name: 'rate-limit',
  title: 'A rate limit in memory',
  about: 'GET /limited, behind a limit for each address whose fields are in every reply, and GET /none.',
  document: null,
  program: 'limits',
  headline: 'cpu',
  variants: [
    { name: 'none', lane: 'plain', measure: { kind: 'load', load: load(get('/none', hello)) } },
    { name: 'limited', lane: 'plain', measure: { kind: 'load', load: load(get('/limited', hello)) } },
  ],
  proofs: [
    { path: '/none', status: 200, reply: hello },
    { path: '/limited', status: 200, reply: hello, fields: { 'ratelimit|x-ratelimit-remaining': /\d/ } },
    { path: '/once', status: 200, reply: hello },
    { path: '/once', status: 429, fields: { 'retry-after': /^\d+$/ } },
  ],
}
