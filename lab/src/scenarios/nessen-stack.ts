import type { Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'
import { securityFields } from './security-fields.ts'

const headers = { 'accept-encoding': 'gzip, br' }
const bare = get('/bare', hello, { headers })
const home = get('/', hello, { headers })

/**
 * The four middlewares that the document names. Its own server leaves one out and refuses all but 100 requests a minute;
 * here nothing is refused, and the log is a file as in `ramapi-stack`.
 */
export const nessenStack: Scenario = {
  name: 'nessen-stack',
  title: 'Full middleware stack',
  about:
    'GET / behind a request log, a rate limit, compression that is negotiated on a small body, and security headers; GET /bare without them.',
  document: { name: 'nessen', command: 'autocannon -c 100 -d 30 -p 10 http://localhost:3000/' },
  program: 'guarded',
  headline: 'cpu',
  variants: [
    {
      name: 'bare',
      lane: 'plain',
      measure: { kind: 'load', load: load(bare) },
      logs: false,
      proofs: [{ path: '/bare', headers, status: 200, reply: hello }],
    },
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(home) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(home, { pipelining: 10 }) },
    },
  ],
  logs: /./,
  proofs: [
    {
      path: '/',
      headers,
      status: 200,
      reply: hello,
      fields: {
        'ratelimit|x-ratelimit-remaining': /\d/,
        ...securityFields,
      },
    },
    {
      path: '/pages/1',
      headers: { 'accept-encoding': 'gzip' },
      status: 200,
      encoding: 'gzip',
      reply: /^\{"id":"1","items":\[/,
    },
  ],
}
