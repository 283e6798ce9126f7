/** Runs that have a name: which scenarios at which points, on which entries, so that the whole takes a known time. */
import { type Entry, entryOf } from './entry.ts'
import { entryNamed } from './choice.ts'
import { Failure } from './failure.ts'
import { atConnections, operatingPoints } from './operating-points.ts'
import type { Chosen } from './schedule.ts'
import { scenarioOf, variantOf } from './scenario.ts'

export interface Preset {
  readonly rounds: number
  /** s. */
  readonly warmup: number
  readonly window: number
  readonly parts: readonly Part[]
}

interface Part {
  readonly scenario: string
  readonly variants: readonly string[]
  /** Of connections; none: that of the scenario. */
  readonly connections?: readonly number[]
  readonly entries: readonly string[]
  /** Measures the first entry twice, for the noise floor. */
  readonly noise?: boolean
}

const rivals = ['native', 'uws', 'fastify']
const bare = ['native', 'uws', 'bun', 'node', 'fastify']
const most = ['native', 'limit', 'node-http', 'uws', 'bun', 'node', 'fastify', 'express5']
const all = [...most, 'hono', 'koa', 'veloze', 'zapjs']
const onNode20 = ['native@20', 'node-http@20', 'uws@20', 'node@20', 'fastify@20']
const few = operatingPoints.filter((count) => count < 100)

/** What is published: README.md and lab/documents have its tables. */
const core: Preset = {
  rounds: 5,
  warmup: 0.8,
  window: 1,
  parts: [
    { ...part('ramapi-json', 'plain', [...all, ...onNode20]), connections: [100], noise: true },
    { ...part('ramapi-json', 'plain', most), connections: few, noise: true },
    part('ramapi-json', 'pipelined', ['native', 'limit', 'uws', 'bun', 'node', 'fastify']),
    part('ramapi-json', 'open loop', bare),
    ...everywhere('ramapi-stack', 'default', ['native', 'uws', 'bun', 'fastify', 'koa', 'express5']),
    ...everywhere('ramapi-user', 'default', ['native', 'uws', 'bun', 'fastify', 'koa', 'express5']),
    part('ramapi-create', 'unique bodies (201)', ['native', 'uws', 'bun', 'fastify', 'koa', 'express5']),
    part('veloze-basic', 'pipelined', [...bare, 'veloze']),
    ...everywhere('veloze-records', 'plain', [...bare, 'veloze'], ['native', 'uws', 'bun']),
    part('veloze-startup', 'default', ['native', 'node-http', 'uws', 'bun', 'node', 'fastify', 'veloze']),
    ...everywhere('zapjs-dynamic', 'default', ['native', 'uws', 'bun', 'fastify', 'express5', 'zapjs']),
    part('zapjs-mixed', 'default', ['native', 'uws', 'bun', 'fastify', 'express5', 'zapjs']),
    part('nessen-health', 'pipelined', bare),
    ...everywhere('nessen-badge', 'plain', bare),
    part('veloxts-latency', 'health', [...bare, 'express5']),
    part('veloxts-startup', 'default', ['native', 'bun', 'node', 'fastify', 'express5']),
    part('short-lived', 'default', bare),
    part('post', '1 KB', ['native', 'uws', 'bun', 'fastify']),
  ],
}

const ours = ['native', 'node-http']
const streaming = [...ours, 'bun', 'node', 'node-compat', 'fastify', 'nghttpd']
const sockets = [...ours, 'uws', 'bun', 'ws', 'deno']

/** What middleware, folders and forms cost. A variant that shows the same without them is measured on native alone. */
const batteries: Preset = {
  rounds: 5,
  warmup: 0.8,
  window: 1,
  parts: [
    part('rate-limit', 'none', ['native']),
    part('rate-limit', 'limited', [...ours, 'fastify', 'express5']),
    part('compression', 'none', ['native']),
    part('compression', 'negotiated', ['native', 'fastify', 'express5']),
    part('compression', 'gzip', [...ours, 'fastify', 'express5']),
    part('nessen-stack', 'bare', ['native']),
    part('nessen-stack', 'plain', [...ours, 'fastify', 'express5']),
    part('nessen-stack', 'pipelined', [...ours, 'fastify', 'express5']),
    part('veloze-middlewares', 'plain', [...ours, 'polka', 'veloze', 'fastify', 'express5']),
    part('veloze-middlewares', 'pipelined', [...ours, 'polka', 'veloze', 'fastify', 'express5', 'express4']),
    part('static-file', 'json', ['native']),
    part('static-file', 'file', [...ours, 'fastify', 'polka', 'express5']),
    part('upload', 'default', [...ours, 'fastify', 'express5']),
  ],
}

/** What headers, ids, logs, sessions, tokens and traces cost. As above. */
const services: Preset = {
  rounds: 5,
  warmup: 0.8,
  window: 1,
  parts: [
    part('security-headers', 'none', ['native']),
    part('security-headers', 'headers', [...ours, 'fastify', 'hono', 'polka', 'express5']),
    part('request-id-cors', 'none', ['native']),
    part('request-id-cors', 'both', [...ours, 'fastify', 'hono', 'express5']),
    part('access-log', 'none', ['native']),
    part('access-log', 'log', [...ours, 'fastify', 'hono', 'polka', 'express5']),
    part('sealed-session', 'none', ['native']),
    part('sealed-session', 'read', [...ours, 'fastify', 'express5']),
    part('signed-cookie', 'none', ['native']),
    part('signed-cookie', 'read', [...ours, 'fastify', 'hono', 'express5']),
    part('jwt', 'none', ['native']),
    part('jwt', 'crypto', ['native']),
    part('jwt', 'hs256', [...ours, 'fastify', 'hono', 'express5']),
    part('traced', 'none', ['native']),
    part('traced', 'sdk', ['native']),
    part('traced', 'sampled-out', [...ours, 'fastify', 'express5']),
    part('traced', 'exported', [...ours, 'fastify', 'express5']),
    part('traced', 'usual', [...ours, 'fastify', 'express5']),
    ...variantsOf('guards', ['native']),
    ...variantsOf('csrf', ['native']),
  ],
}

/**
 * What WebSockets cost: a message, a delivery, and one that is held. A publish to 10,000 takes 35 ms: with 5 windows of
 * 1.5 s, 40 of them each, the interval of its ratio was 32 % wide.
 */
const realtime: Preset = {
  rounds: 7,
  warmup: 0.8,
  window: 2.5,
  parts: [
    part('ws-echo', '128 B', sockets),
    part('ws-echo', '128 B on 10 sockets', ['native', 'uws', 'bun']),
    part('ws-echo', '128 B on 1 socket', ['native', 'uws', 'bun']),
    part('ws-echo', '16 B', ['native', 'uws', 'bun']),
    part('ws-echo', '4 KiB', ['native', 'uws', 'bun', 'ws']),
    part('ws-publish', '10000 subscribers', sockets),
    part('ws-publish', '100 subscribers', ['native', 'uws', 'bun', 'ws']),
    part('ws-idle', 'default', sockets),
  ],
}

/** Measures what TLS and HTTP/2 cost a request. */
const tls: Preset = {
  rounds: 5,
  warmup: 0.8,
  window: 1.5,
  parts: [
    part('tls-json', 'plain', ['native', 'node', 'bun', 'uws']),
    part('tls-json', 'tls', [...ours, 'uws', 'bun', 'node', 'fastify']),
    part('http2-json', 'h2c, 100 streams', streaming),
    part('http2-json', 'TLS, 100 streams', streaming),
    part('http2-json', 'HTTP/1.1, 10 pipelined', ['native', 'bun', 'node']),
    part('http2-json', 'h2c, 1 stream', ['native', 'bun', 'node', 'nghttpd']),
    part('http2-json', 'TLS, 1 stream', streaming),
    part('http2-json', 'HTTP/1.1', ['native', 'bun', 'node']),
    part('http2-json', 'HTTP/1.1 over TLS', ['native', 'bun', 'node']),
  ],
}

export const presets: Readonly<Record<string, Preset>> = { core, batteries, services, realtime, tls }

/** Throws a `Failure` for a name that is not among them. */
export function presetOf(name: string): Preset {
  if (Object.hasOwn(presets, name)) return presets[name] as Preset
  throw new Failure(`unknown preset ${name}; known: ${Object.keys(presets).join(' ')}`, 2)
}

export function partsOf({ parts }: Preset, entries: readonly Entry[]): Chosen[] {
  return parts.map(({ scenario: name, variants: names, connections, entries: labels, noise }) => {
    const scenario = scenarioOf(name)
    const variants = names.map((variant) => variantOf(scenario, variant))
    const able = labels.map((label) => entryNamed(label, entries))
    return {
      scenario,
      variants: connections === undefined ? variants : atConnections(scenario, variants, connections),
      entries: able,
      twice: noise === true ? entryOf(labels[0] as string, able) : null,
    }
  })
}

/** At 100 connections all of the entries, at fewer some of them. */
function everywhere(
  scenario: string,
  variant: string,
  entries: readonly string[],
  some: readonly string[] = rivals,
): Part[] {
  return [
    { ...part(scenario, variant, entries), connections: [100] },
    { ...part(scenario, variant, some), connections: few },
  ]
}

function variantsOf(scenario: string, entries: readonly string[]): Part[] {
  return scenarioOf(scenario).variants.map(({ name }) => part(scenario, name, entries))
}

function part(scenario: string, variant: string, entries: readonly string[]): Part {
  return { scenario, variants: [variant], entries }
}
