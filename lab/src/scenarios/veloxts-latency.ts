import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'
import { health, users, veloxts } from './veloxts.ts'

export const veloxtsLatency: Scenario = {
  ...veloxts,
  name: 'veloxts-latency',
  title: 'Latency',
  about: '10 connections without pipelining, a closed loop: these are latencies of a server that is full.',
  headline: 'p50',
  document: { name: 'veloxts', command: 'pnpm bench:latency' },
  variants: [
    { name: 'health', lane: 'plain', measure: { kind: 'load', load: load(health, { connections: 10 }) } },
    { name: 'users', lane: 'plain', measure: { kind: 'load', load: load(users, { connections: 10 }) } },
  ],
}
