import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const records = JSON.stringify(
  Array.from({ length: 200 }, (_, id) => ({ id, title: 'Software engineer', employer: 'acme corp' })),
)

export const velozeRecords: Scenario = {
  name: 'veloze-records',
  title: 'Big JSON',
  about: 'GET /, 200 records built anew for each request: 12 KB of JSON.',
  document: { name: 'veloze', command: 'autocannon -c 100 -d 10 -p 10 localhost:3000' },
  program: 'records',
  headline: 'cpu',
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(get('/', records)) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(get('/', records), { pipelining: 10 }) },
    },
  ],
  proofs: [{ path: '/', status: 200, reply: records }],
}
