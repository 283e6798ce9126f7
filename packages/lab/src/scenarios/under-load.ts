/** Ours: open loops, where latency counts from the intended time. */
import type { Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const hello = load(get('/json', '{"message":"Hello World"}'))
const base = {
  document: null,
  program: 'hello',
  proofs: [{ path: '/json', status: 200, reply: '{"message":"Hello World"}' }],
} as const

export const curve: Scenario = {
  ...base,
  name: 'curve',
  title: 'Latency against load',
  about: 'GET /json at 10 to 95 % of what the server can do, an open loop.',
  headline: 'capacity',
  variants: [
    {
      name: 'default',
      lane: 'open loop',
      measure: { kind: 'curve', load: hello, shares: [0.1, 0.25, 0.5, 0.75, 0.9, 0.95] },
    },
  ],
}

export const highest: Scenario = {
  ...base,
  name: 'highest',
  title: 'Highest rate within 10 ms',
  about: 'The highest rate of GET /json whose p99.9 stays at 10 ms or less.',
  headline: 'highest',
  variants: [{ name: 'default', lane: 'open loop', measure: { kind: 'highest', load: hello, limit: 10 } }],
}

export const overload: Scenario = {
  ...base,
  name: 'overload',
  title: 'Goodput at 200 % load',
  about: 'Right replies within 1 s, when twice as much is asked as the server can do.',
  headline: 'goodputShare',
  variants: [
    {
      name: 'default',
      lane: 'open loop',
      measure: { kind: 'overload', load: hello, factor: 2, limit: 1_000 },
    },
  ],
}
