/**
 * What the scenarios of VeloxTS's document share. `BENCH_DURATION` and `BENCH_CONNECTIONS`, which
 * the document promises and its code reads nowhere, are read here; `BENCH_PORT` where servers are started.
 */
import { Failure } from '../failure.ts'
import type { Load, Proof } from '../scenario.ts'
import { get, load } from './load.ts'

const pattern =
  /^\{"status":"ok","version":"1\.0\.0","timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","uptime":[\d.]+\}$/
export const health = get('/api/health', null, {
  expect: { status: 200, body: null, length: null, contains: '"status":"ok"' },
})
export const users = get('/api/users', null, {
  expect: { status: 200, body: null, length: null, contains: '"meta":{"page":1,"limit":10,"total":3}' },
})
const proofs: Proof[] = [
  { path: '/api/health', status: 200, reply: pattern },
  { path: '/api/users', status: 200, reply: /^\{"data":\[\{"id":"550e8400-.*"total":3\}\}$/ },
  { path: '/debug/memory', status: 200, reply: /"rss":\d+/ },
]
export const veloxts = { program: 'velox', proofs } as const

/** 100 connections, 10 requests at once on each. Read when it is used: a wrong setting is a `Failure`. */
export const heavy = (): Load =>
  load(health, {
    connections: setting('BENCH_CONNECTIONS', 100, 10_000),
    pipelining: 10,
    warmup: 3,
    window: process.env['BENCH_DURATION'] === undefined ? null : setting('BENCH_DURATION', 10, 3_600),
  })

function setting(name: string, standard: number, most: number): number {
  const text = process.env[name]
  if (text === undefined) return standard
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Failure(`${name} is ${text}; it takes a whole number from 1 to ${most}`, 2)
}
