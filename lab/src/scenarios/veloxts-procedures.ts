import type { Scenario } from '../scenario.ts'
import { load } from './load.ts'
import { ofHealth, trpcProofs, trpcWarmup } from './trpc-query.ts'
import { health, users, veloxts } from './veloxts.ts'

const few = { connections: 10, warmup: trpcWarmup }

/** The three paths of the document's server; every reply is checked by a schema. */
export const veloxtsProcedures: Scenario = {
  ...veloxts,
  name: 'veloxts-procedures',
  title: 'Latency over REST and tRPC',
  about:
    '10 connections without pipelining, a closed loop, on a server that speaks both; replies are checked.',
  program: 'playground',
  headline: 'p50',
  document: { name: 'veloxts', command: 'pnpm bench:latency' },
  variants: [
    { name: 'health', lane: 'plain', measure: { kind: 'load', load: load(health, few) } },
    { name: 'users', lane: 'plain', measure: { kind: 'load', load: load(users, few) } },
    { name: 'trpc', lane: 'plain', measure: { kind: 'load', load: load(ofHealth, few) } },
  ],
  proofs: [...veloxts.proofs.filter(({ path }) => path !== '/debug/memory'), ...trpcProofs],
}
