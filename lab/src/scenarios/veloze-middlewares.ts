import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const home = get('/', '{"hello":"world"}')

/** The document's second group; what it calls with-middlewares asks `/`, not the route with a parameter. */
export const velozeMiddlewares: Scenario = {
  name: 'veloze-middlewares',
  title: 'With middlewares',
  about:
    'GET / behind cors, dns-prefetch-control, frameguard, hide-powered-by, hsts and x-xss-protection, the packages of Express and connect.',
  document: { name: 'veloze', command: 'autocannon -c 100 -d 10 -p 10 localhost:3000' },
  program: 'connect',
  headline: 'cpu',
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(home) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(home, { pipelining: 10 }) },
    },
  ],
  proofs: [
    {
      path: '/',
      status: 200,
      reply: '{"hello":"world"}',
      fields: {
        'access-control-allow-origin': /^\*$/,
        'x-dns-prefetch-control': /^off$/,
        'x-frame-options': /^SAMEORIGIN$/,
        'strict-transport-security': /^max-age=\d+; includeSubDomains$/,
        'x-xss-protection': /^0$/,
      },
    },
  ],
}
