import type { Proof, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'

const ready = '{"ready":true}'

function change(route: number, body: string, status: number): Proof {
  const headers = { 'content-type': 'application/json' }
  const reply = '{"id":7,"name":"Ada","createdAt":"2024-01-15T10:30:00.000Z"}'
  const path = `/resources/${route}/7?notify=everybody`
  return { method: 'POST', path, headers, body, status, ...(status === 200 && { reply }) }
}

function variant(name: string, proofs: readonly Proof[]): Variant {
  return {
    name,
    lane: 'no load',
    environment: { CONTRACTS: name },
    measure: { kind: 'startup', load: load(get('/ready', ready)) },
    proofs,
  }
}

/** Ours: what contracts add to a start. Schemas are constructed in all of the variants. */
export const contractStartup: Scenario = {
  name: 'contract-startup',
  title: 'Startup with 1,000 contracts',
  about:
    'From before the process is spawned to its first reply to GET /ready: the schemas of 1,000 routes and no route of theirs, these routes without their contracts, and with them.',
  document: null,
  program: 'contracts',
  headline: 'start',
  variants: [
    variant('schemas', [change(999, '{"name":"Ada"}', 404)]),
    variant('plain', [change(0, '{"name":"Ada"}', 200), change(999, '{"name":"Ada"}', 200)]),
    variant('contracts', [change(0, '{"name":"Ada"}', 200), change(999, '{"name":""}', 400)]),
  ],
  proofs: [{ path: '/ready', status: 200, reply: ready }],
}
