/** Nessen: health, the badge, and ten minutes of health for memory. */
import type { Proof, Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const proofs: Proof[] = [
  { path: '/health', status: 200, reply: 'OK' },
  {
    path: '/badge/status/ok.svg',
    status: 200,
    reply: /^<svg .*>status<.*>ok<.*<\/svg>$/s,
    type: 'image/svg+xml',
  },
  { path: '/badge/build/failed.svg', status: 200, reply: />build<.*>failed</s, type: 'image/svg+xml' },
]
const health = get('/health', 'OK')
const base = { program: 'nessen', proofs } as const

export const nessenHealth: Scenario = {
  ...base,
  name: 'nessen-health',
  title: 'Health, no middleware',
  about: 'GET /health: OK as text.',
  headline: 'cpu',
  document: { name: 'nessen', command: 'autocannon -c 100 -d 30 -p 10 http://localhost:3000/health' },
  variants: [
    { name: 'plain', lane: 'plain', measure: { kind: 'load', load: load(health) } },
    {
      name: 'pipelined',
      lane: 'pipelined',
      measure: { kind: 'load', load: load(health, { pipelining: 10 }) },
    },
  ],
}

const badge = get('/badge/status/{nonce}.svg', null, {
  expect: { status: 200, body: null, length: null, contains: '>{nonce}<' },
})

export const nessenBadge: Scenario = {
  ...base,
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

export const nessenSoak: Scenario = {
  ...base,
  name: 'nessen-soak',
  title: 'Memory soak',
  about:
    'GET /health for ten minutes, memory every second; the slope is that of a line through the second half.',
  headline: 'slope',
  document: { name: 'nessen', command: 'autocannon -c 100 -d 600 http://localhost:3000/health' },
  variants: [{ name: 'default', lane: 'plain', measure: { kind: 'soak', load: load(health), seconds: 600 } }],
}
