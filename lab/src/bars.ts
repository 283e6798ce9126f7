/** What the product promises of CPU time, memory and start-up, and whether a run kept it. */
import type { Cell } from './cell.ts'
import { type Entry, entryOf } from './entry.ts'
import type { Chosen } from './schedule.ts'
import { atConnections, operatingPoints } from './operating-points.ts'
import { type Scenario, type Variant, scenarioOf, variantOf } from './scenario.ts'
import { type Estimate, pairedDifference, pairedRatio, summarize } from './statistics.ts'

/**
 * `cpu` is µs per request under load, `messageCpu` and `deliveryCpu` the same of WebSockets, `socketMemory` bytes of one
 * that is held, `start` ms from spawn to first reply, `idleRss` MB of an idle server.
 */
export type Quantity = 'cpu' | 'messageCpu' | 'deliveryCpu' | 'socketMemory' | 'start' | 'idleRss'

export interface Bar {
  /** `must` is a promise, `goal` is where we are going. */
  readonly kind: 'must' | 'goal'
  readonly quantity: Quantity
  readonly scenario: string
  readonly server: string
  readonly variant: string
  readonly base: string
  readonly baseVariant: string
  /** A ratio of the two by round, their difference in the unit of the quantity, or the value by itself. */
  readonly as: 'ratio' | 'difference' | 'value'
  /** A variant that is taken away from both sides first: what they add to it is compared. */
  readonly over?: string
  /** What it is at most. */
  readonly most: number
}

export interface Verdict {
  readonly bar: Bar
  readonly measured: Estimate
  /**
   * Met when the median and the upper end of the interval of what was paired by round are within the bar. A server
   * whose replies were not right has no figures, and keeps no promise.
   */
  readonly met: boolean
}

const [json, plain, pipelined, openLoop] = ['ramapi-json', 'plain', 'pipelined', 'open loop']
/** Points at which the server is not full, where requests cannot be gathered. */
const points = ['plain, 1 connection', 'plain, 10 connections', openLoop] as const
const users = { scenario: 'ramapi-user', variant: 'default' }
const query = { scenario: 'trpc-query', variant: 'health' }
const gzip = { scenario: 'compression', variant: 'gzip' }
const stack = { scenario: 'nessen-stack', variant: 'plain' }
const connect = { scenario: 'veloze-middlewares', variant: 'plain' }
const file = { scenario: 'static-file', variant: 'file' }
const upload = { scenario: 'upload', variant: 'default' }
const spans = { scenario: 'traced', variant: 'exported' }
const echo = { scenario: 'ws-echo', variant: '128 B', quantity: 'messageCpu' } as const
const publish = { scenario: 'ws-publish', variant: '10000 subscribers', quantity: 'deliveryCpu' } as const
const order = { scenario: 'contract-post', variant: 'default' }

export const bars: readonly Bar[] = [
  ratio('must', 'native', 1.2, 'limit'),
  ratio('goal', 'native', 1.12, 'limit'),
  ratio('must', 'native', 1, 'uws'),
  ratio('must', 'native', 0.5, 'fastify'),
  ratio('must', 'node-http', 1, 'fastify'),
  ratio('goal', 'node-http', 1.03, 'node'),
  ratio('must', 'native', 1, 'uws', { variant: pipelined }),
  ratio('must', 'native', 0.125, 'fastify', { variant: pipelined }),
  ratio('goal', 'native', 1.7, 'limit', { variant: pipelined }),
  ...points.flatMap((variant) => [
    ratio('must', 'native', 1, 'uws', { variant }),
    ratio('goal', 'native', 0.85, 'uws', { variant }),
    ratio('must', 'native', 0.4, 'fastify', { variant }),
  ]),
  added('must', 'param', 'param', 'static', 0.25),
  added('goal', 'param', 'param', 'static', 0.1),
  added('must', 'middleware', 'three', 'none', 0.6),
  added('goal', 'middleware', 'three', 'none', 0.3),
  ratio('must', 'native', 0.65, 'fastify', users),
  ratio('goal', 'native', 1, 'uws', users),
  added('must', 'contract-get', 'validated', 'unvalidated', 0.7),
  ratio('must', 'native', 0.6, 'fastify', order),
  ratio('must', 'native', 0.4, 'trpc-standalone', query),
  added('must', 'rate-limit', 'limited', 'none', 0.4),
  added('must', 'compression', 'negotiated', 'none', 0.2),
  ratio('must', 'native', 1, 'fastify', gzip),
  added('must', 'nessen-stack', 'plain', 'bare', 3),
  ratio('must', 'native', 0.5, 'fastify', stack),
  ratio('must', 'native', 0.6, 'polka', connect),
  { ...added('must', 'static-file', 'file', 'json', 2), as: 'ratio' },
  ratio('must', 'native', 0.5, 'fastify', file),
  ratio('must', 'native', 0.8, 'fastify', upload),
  added('must', 'security-headers', 'headers', 'none', 0.3),
  added('must', 'request-id-cors', 'both', 'none', 0.4),
  added('must', 'access-log', 'log', 'none', 1.5),
  added('must', 'sealed-session', 'read', 'none', 2.5),
  { ...added('must', 'jwt', 'hs256', 'crypto', 1.2), as: 'ratio', over: 'none' },
  added('must', 'traced', 'sampled-out', 'sdk', 0.4),
  ratio('must', 'native', 0.6, 'fastify', spans),
  ratio('must', 'native', 1, 'uws', echo),
  ratio('must', 'native', 0.55, 'ws', echo),
  ratio('must', 'native', 1, 'uws', publish),
  {
    ...ratio('must', 'native', 1_500, 'native', { scenario: 'ws-idle', variant: 'default' }),
    quantity: 'socketMemory',
    as: 'value',
  },
  { ...added('must', 'contract-startup', 'contracts', 'schemas', 150), quantity: 'start' },
  fresh('must', 'start', 40),
  fresh('goal', 'start', 5),
  fresh('must', 'idleRss', 15),
  fresh('goal', 'idleRss', 0),
]

/** Fewer rounds judge nothing; of fresh processes 10 are needed. */
export const barRounds = 5
const leastStarts = 10

/** What has to be measured for the bars, with `more` servers beside them in the first. */
export function barScenarios(entries: readonly Entry[], more: readonly Entry[]): Chosen[] {
  const choose = (scenario: string, variants: readonly string[], names: readonly string[]): Chosen => {
    const found = scenarioOf(scenario)
    return {
      scenario: found,
      variants: variants.map((variant) => pointNamed(found, variant)),
      entries: names.map((name) => entryOf(name, entries)),
      twice: null,
    }
  }
  const simple = choose(json, [plain], ['limit', 'native', 'uws', 'fastify', 'node-http', 'node'])
  return [
    { ...simple, entries: [...new Set([...simple.entries, ...more])] },
    choose(json, points, ['native', 'uws', 'fastify']),
    choose(json, [pipelined], ['limit', 'native', 'uws', 'fastify']),
    choose('param', ['static', 'param'], ['native']),
    choose('middleware', ['none', 'three'], ['native']),
    choose(users.scenario, [users.variant], ['uws', 'native', 'fastify']),
    choose('contract-get', ['unvalidated', 'validated'], ['native']),
    choose(order.scenario, [order.variant], ['native', 'fastify']),
    choose(query.scenario, [query.variant], ['native', 'trpc-standalone']),
    choose('rate-limit', ['none', 'limited'], ['native']),
    choose('compression', ['none', 'negotiated'], ['native']),
    choose(gzip.scenario, [gzip.variant], ['native', 'fastify']),
    choose('nessen-stack', ['bare'], ['native']),
    choose(stack.scenario, [stack.variant], ['native', 'fastify']),
    choose(connect.scenario, [connect.variant], ['native', 'polka']),
    choose('static-file', ['json'], ['native']),
    choose(file.scenario, [file.variant], ['native', 'fastify']),
    choose(upload.scenario, [upload.variant], ['native', 'fastify']),
    choose('security-headers', ['none', 'headers'], ['native']),
    choose('request-id-cors', ['none', 'both'], ['native']),
    choose('access-log', ['none', 'log'], ['native']),
    choose('sealed-session', ['none', 'read'], ['native']),
    choose('jwt', ['none', 'hs256', 'crypto'], ['native']),
    choose('traced', ['sdk', 'sampled-out'], ['native']),
    choose(spans.scenario, [spans.variant], ['native', 'fastify']),
    choose(echo.scenario, [echo.variant], ['native', 'uws', 'ws']),
    choose(publish.scenario, [publish.variant], ['native', 'uws']),
    choose('ws-idle', ['default'], ['native']),
    { ...choose('contract-startup', ['schemas', 'contracts'], ['native']), rounds: leastStarts },
    { ...choose('veloze-startup', ['default'], ['node', 'native']), rounds: leastStarts },
  ]
}

function pointNamed(scenario: Scenario, name: string): Variant {
  const known = scenario.variants.flatMap((variant) => [
    variant,
    ...atConnections(scenario, [variant], operatingPoints),
  ])
  return known.find((variant) => variant.name === name) ?? variantOf(scenario, name)
}

/** Judges the bars whose two sides are among the cells, with rounds enough. */
export function judge(cells: readonly Cell[]): Verdict[] {
  return bars.flatMap((bar) => {
    const own = valuesOf(cells, bar, bar.server, bar.variant)
    const base = valuesOf(cells, bar, bar.base, bar.baseVariant)
    const rounds = [...own.keys()].filter((round) => base.has(round))
    const ofFresh = bar.quantity === 'start' || bar.quantity === 'idleRss'
    if (rounds.length < (ofFresh ? leastStarts : barRounds)) return []
    const paired = [own, base].map((values) => rounds.map((round) => values.get(round) as number)) as [
      number[],
      number[],
    ]
    const measured = estimates[bar.as](...paired)
    return [{ bar, measured, met: measured.median <= bar.most && measured.high <= bar.most }]
  })
}

const estimates: Record<Bar['as'], (own: number[], base: number[]) => Estimate> = {
  ratio: pairedRatio,
  difference: pairedDifference,
  value: summarize,
}

/** By round. None when one of its cells was disqualified. */
function valuesOf(cells: readonly Cell[], bar: Bar, entry: string, variant: string): Map<number, number> {
  const { over, ...alone } = bar
  if (over !== undefined) {
    const without = valuesOf(cells, alone, entry, over)
    const values = [...valuesOf(cells, alone, entry, variant)].filter(([round]) => without.has(round))
    return new Map(values.map(([round, value]) => [round, value - (without.get(round) as number)]))
  }
  const { scenario, quantity } = bar
  const own = cells.filter(
    (cell) => cell.scenario === scenario && cell.variant === variant && cell.entry === entry,
  )
  if (own.some(({ status }) => status === 'disqualified')) return new Map()
  return new Map(
    own.flatMap(({ status, round, metrics }) => {
      const value = metrics[quantity]
      return status === 'measured' && value !== undefined ? [[round, value] as const] : []
    }),
  )
}

/** CPU time of `server` over that of `base`. */
function ratio(
  kind: Bar['kind'],
  server: string,
  most: number,
  base: string,
  {
    scenario = json,
    variant = plain,
    quantity = 'cpu',
  }: { scenario?: string; variant?: string; quantity?: Quantity } = {},
): Bar {
  return { kind, quantity, scenario, server, variant, base, baseVariant: variant, as: 'ratio', most }
}

/** What a variant adds to another on our own engine, of CPU time unless it says otherwise. */
function added(kind: Bar['kind'], scenario: string, variant: string, baseVariant: string, most: number): Bar {
  const own = 'native'
  return {
    kind,
    quantity: 'cpu',
    scenario,
    server: own,
    variant,
    base: own,
    baseVariant,
    as: 'difference',
    most,
  }
}

/** What our own engine adds to a fresh process of bare node:http. */
function fresh(kind: Bar['kind'], quantity: Quantity, most: number): Bar {
  const [scenario, variant] = ['veloze-startup', 'default']
  return {
    kind,
    quantity,
    scenario,
    server: 'native',
    variant,
    base: 'node',
    baseVariant: variant,
    as: 'difference',
    most,
  }
}
