/** What the scenarios of Nessen's document share. */
import type { Proof } from '../scenario.ts'
import { get } from './load.ts'

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

export const health = get('/health', 'OK')
export const nessen = { program: 'nessen', proofs } as const
