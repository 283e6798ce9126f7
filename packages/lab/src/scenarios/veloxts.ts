/**
 * VeloxTS: throughput, latency, memory and startup of its REST routes. `BENCH_DURATION` and `BENCH_CONNECTIONS`, which
 * the document promises and its code reads nowhere, are read here; `BENCH_PORT` where servers are started.
 */
import { Failure } from '../failure.ts'
import type { Load, Proof, Scenario } from '../scenario.ts'
import { get, load } from './load.ts'

const pattern =
  /^\{"status":"ok","version":"1\.0\.0","timestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","uptime":[\d.]+\}$/
const health = get('/api/health', null, {
  expect: { status: 200, body: null, length: null, contains: '"status":"ok"' },
})
const users = get('/api/users', null, {
  expect: { status: 200, body: null, length: null, contains: '"meta":{"page":1,"limit":10,"total":3}' },
})
const proofs: Proof[] = [
  { path: '/api/health', status: 200, reply: pattern },
  { path: '/api/users', status: 200, reply: /^\{"data":\[\{"id":"550e8400-.*"total":3\}\}$/ },
  { path: '/debug/memory', status: 200, reply: /"rss":\d+/ },
]
const base = { program: 'velox', proofs } as const

/** 100 connections, 10 requests at once on each. */
const heavy = (): Load =>
  load(health, {
    connections: setting('BENCH_CONNECTIONS', 100, 10_000),
    pipelining: 10,
    warmup: 3,
    window: process.env['BENCH_DURATION'] === undefined ? null : setting('BENCH_DURATION', 10, 3_600),
  })

export const veloxtsThroughput: Scenario = {
  ...base,
  name: 'veloxts-throughput',
  title: 'Throughput',
  about: 'GET /api/health with pipelining 10.',
  headline: 'cpu',
  document: { name: 'veloxts', command: 'pnpm bench:throughput' },
  variants: [{ name: 'default', lane: 'pipelined', measure: { kind: 'load', load: heavy() } }],
}

export const veloxtsLatency: Scenario = {
  ...base,
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

/** From the kernel. What the server says of itself in `/debug/memory` is held against it, and disqualifies when it lies. */
export const veloxtsMemory: Scenario = {
  ...base,
  name: 'veloxts-memory',
  title: 'Memory',
  about: 'Resident memory idle, under load, and 5 s after it.',
  headline: 'idleRss',
  document: { name: 'veloxts', command: 'pnpm bench:memory' },
  variants: [
    { name: 'default', lane: 'pipelined', measure: { kind: 'memory', load: heavy(), seconds: 10, rest: 5 } },
  ],
}

export const veloxtsStartup: Scenario = {
  ...base,
  name: 'veloxts-startup',
  title: 'Startup',
  about: 'Process to first reply to GET /api/health, tried every ms; the document tries every 100 ms.',
  headline: 'start',
  document: { name: 'veloxts', command: 'pnpm bench:startup' },
  variants: [{ name: 'default', lane: 'no load', measure: { kind: 'startup', load: load(health) } }],
}

function setting(name: string, standard: number, most: number): number {
  const text = process.env[name]
  if (text === undefined) return standard
  const value = Number(text)
  if (Number.isInteger(value) && value >= 1 && value <= most) return value
  throw new Failure(`${name} is ${text}; it takes a whole number from 1 to ${most}`, 2)
}
