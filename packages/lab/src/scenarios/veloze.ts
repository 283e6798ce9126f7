/** veloze-benchmarks: its basic group, its big JSON and its startup times. */
import type { Proof, Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const kitty = get('/kitty', '{"hello":"kitty"}')
// The suite wants 405; many routers have no such answer and give 404.
const proofs: Proof[] = [
  { path: '/', status: 200, reply: '{"hello":"world"}' },
  { path: '/kitty', status: 200, reply: '{"hello":"kitty"}' },
  { path: '/garfield', status: 200, reply: '{"hello":"garfield"}' },
  { method: 'POST', path: '/', status: 201, reply: '{"created":true}' },
  { method: 'PUT', path: '/foo', status: [404, 405] },
  { path: '/foo/bar', status: 404 },
]

/** The document says `localhost:3000`; its code asks `/kitty`, a route with a parameter, with pipelining 10. */
export const velozeBasic: Scenario = {
  name: 'veloze-basic',
  title: 'Basic group',
  about: 'GET /kitty, a route with a parameter: {"hello":"kitty"}.',
  document: { name: 'veloze', command: 'autocannon -c 100 -d 10 -p 10 localhost:3000' },
  program: 'greet',
  headline: 'cpu',
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(kitty) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(kitty, { pipelining: 10 }) },
    },
  ],
  proofs,
}

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

export const velozeStartup: Scenario = {
  name: 'veloze-startup',
  title: 'Startup',
  about: 'From before the process is spawned to its first whole reply to GET /, tried every ms.',
  document: { name: 'veloze', command: 'npm test' },
  program: 'greet',
  headline: 'start',
  variants: [
    {
      name: 'default',
      lane: 'no load',
      measure: { kind: 'startup', load: load(get('/', '{"hello":"world"}')) },
    },
  ],
  proofs,
}
