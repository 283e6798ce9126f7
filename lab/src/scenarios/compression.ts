import type { Request, Scenario } from '../scenario.ts'
import { hello } from './hello.ts'
import { get, load } from './load.ts'

/** What browsers send, but for deflate and zstd. */
const headers = { 'accept-encoding': 'gzip, br' }
const gzip = { 'accept-encoding': 'gzip' }
// Each id makes other compressed bytes; the generator does not inflate, the proofs do.
const page: Request = get('/pages/{1..9999}', null, { headers: gzip })

/** Ours: compression that is negotiated and not applied, since the body is small, and gzip of 20 KB. */
export const compression: Scenario = {
  name: 'compression',
  title: 'Compression',
  about:
    'GET /small, 27 bytes behind a compressor that leaves them alone, GET /none without one, and GET /pages/7, 20 KB of JSON that are sent as gzip of level 6.',
  document: null,
  program: 'compression',
  headline: 'cpu',
  variants: [
    { name: 'none', lane: 'plain', measure: { kind: 'load', load: load(get('/none', hello, { headers })) } },
    {
      name: 'negotiated',
      lane: 'plain',
      measure: { kind: 'load', load: load(get('/small', hello, { headers })) },
    },
    {
      name: 'gzip',
      lane: 'plain',
      measure: { kind: 'load', load: load(page, { connections: 20 }) },
    },
  ],
  proofs: [
    { path: '/none', headers, status: 200, reply: hello },
    { path: '/small', headers, status: 200, reply: hello },
    ...['1', '77', '9999'].map((id) => ({
      path: `/pages/${id}`,
      headers: gzip,
      status: 200,
      encoding: 'gzip' as const,
      reply: new RegExp(
        `^\\{"id":"${id}","items":\\[\\{"sku":"P-100000",.{20000,21000}"inStock":false\\}\\]\\}$`,
      ),
      fields: { vary: /accept-encoding/i },
    })),
    { path: '/pages/5', status: 200, reply: /^\{"id":"5","items":\[/ },
  ],
}
