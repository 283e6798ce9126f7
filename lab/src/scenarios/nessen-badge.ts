import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'
import { nessen } from './nessen.ts'

const badge = get('/badge/status/{nonce}.svg', null, {
  expect: { status: 200, body: null, length: null, contains: '>{nonce}<' },
})

export const nessenBadge: Scenario = {
  ...nessen,
  name: 'nessen-badge',
  title: 'Dynamic badge',
  about: 'GET /badge/status/<anything>.svg: an SVG that shows it.',
  headline: 'cpu',
  document: {
    name: 'nessen',
    command: 'autocannon -c 100 -d 30 -p 10 http://localhost:3000/badge/status/ok.svg',
  },
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(badge) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(badge, { pipelining: 10 }) },
    },
  ],
}
