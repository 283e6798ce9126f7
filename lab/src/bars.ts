/** What the product promises of CPU time, memory and start-up, and whether a run kept it. */
import { usualFlags } from './analysis.ts'
import type { Cell, Flag } from './cell.ts'
import { type Entry, entryOf } from './entry.ts'
import type { Chosen } from './schedule.ts'
import { atConnections, operatingPoints } from './operating-points.ts'
import { type Scenario, type Variant, scenarioOf, variantOf } from './scenario.ts'
import { type Estimate, median, pairedDifference, pairedRatio, summarize } from './statistics.ts'

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
  readonly own: Side
  readonly base: Side
}

/** How one side of a bar was measured. */
export interface Side {
  /** The median of the share of its core, in %; null if it was not measured. */
  readonly busy: number | null
  /** The flags of most of its rounds. */
  readonly flags: readonly Flag[]
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
const tls = { scenario: 'tls-json', variant: 'tls' }
const streams = { scenario: 'http2-json', variant: 'h2c, 100 streams' }
const secureStreams = { scenario: 'http2-json', variant: 'TLS, 100 streams' }
const [oneStream, oneSecureStream] = ['h2c, 1 stream', 'TLS, 1 stream'] as const
const [http1, secureHttp1, pipelinedHttp1] = [
  'HTTP/1.1',
  'HTTP/1.1 over TLS',
  'HTTP/1.1, 10 pipelined',
] as const
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
  added('must', tls.scenario, tls.variant, 'plain', 2),
  added('goal', tls.scenario, tls.variant, 'plain', 1.5),
  ratio('must', 'native', 0.6, 'node', tls),
  ratio('goal', 'native', 0.5, 'node', tls),
  ratio('must', 'native', 0.8, 'bun', tls),
  ratio('must', 'native', 0.6, 'bun', streams),
  ratio('must', 'native', 1, 'nghttpd', streams),
  ratio('must', 'native', 0.6, 'bun', secureStreams),
  ratio('must', 'native', 1, 'nghttpd', secureStreams),
  times('must', streams.scenario, oneStream, http1, 1.15),
  times('must', streams.scenario, oneSecureStream, secureHttp1, 1.15),
  times('must', streams.scenario, streams.variant, pipelinedHttp1, 1.5),
  times('must', streams.scenario, secureStreams.variant, pipelinedHttp1, 2),
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
    // The variants are in one choice, so that each goes before the other in every second round.
    choose(tls.scenario, ['plain', tls.variant], ['native', 'node', 'bun']),
    choose(streams.scenario, [streams.variant, secureStreams.variant], ['native', 'bun', 'nghttpd']),
    choose(streams.scenario, [oneStream, oneSecureStream, http1, secureHttp1, pipelinedHttp1], ['native']),
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
  return bars.flatMap((bar) => verdictOf(bar, cells) ?? [])
}

/** A promise without a verdict. */
export interface Unjudged {
  readonly bar: Bar
  readonly reason: string
}

/** Gives the promises whose two sides were to be measured, and that cannot be judged by the measured cells. */
export function unjudged(cells: readonly Cell[], chosen: readonly Chosen[]): Unjudged[] {
  const isPlanned = (bar: Bar): boolean =>
    sidesOf(bar).every((side) =>
      chosen.some(
        ({ scenario, variants, entries }) =>
          scenario.name === bar.scenario &&
          variants.some(({ name }) => name === side.variant) &&
          entries.some(({ name }) => name === side.entry),
      ),
    )
  return bars
    .filter((bar) => bar.kind === 'must' && isPlanned(bar) && verdictOf(bar, cells) === null)
    .map((bar) => ({ bar, reason: hindranceOf(bar, cells) }))
}

/**
 * Returns true when every promise that was to be measured has a verdict and is met. Returns false when there is no
 * promise.
 */
export function allKept(cells: readonly Cell[], chosen: readonly Chosen[]): boolean {
  const promises = judge(cells).filter(({ bar }) => bar.kind === 'must')
  return promises.length > 0 && promises.every(({ met }) => met) && unjudged(cells, chosen).length === 0
}

function hindranceOf(bar: Bar, cells: readonly Cell[]): string {
  const lost = sidesOf(bar)
    .flatMap((side) => cellsOf(cells, bar, side.entry, side.variant))
    .filter(({ status }) => status !== 'measured')
  const first = lost.find(({ status }) => status === 'disqualified') ?? lost[0]
  const why =
    first === undefined
      ? null
      : `${first.entry} (${first.variant}) ${first.status}: ${first.reason ?? 'no reason given'}`
  if (why !== null && first?.status === 'disqualified') return why
  const [own] = pairedValues(bar, cells)
  return `${own.length} of ${leastRounds(bar)} rounds${why === null ? '' : `; ${why}`}`
}

/** Gives the two sides of a bar, and the cells that are subtracted from both sides first. */
function sidesOf({ server, variant, base, baseVariant, over }: Bar): { entry: string; variant: string }[] {
  const without = over === undefined ? [] : [server, base].map((entry) => ({ entry, variant: over }))
  return [{ entry: server, variant }, { entry: base, variant: baseVariant }, ...without]
}

function verdictOf(bar: Bar, cells: readonly Cell[]): Verdict | null {
  const paired = pairedValues(bar, cells)
  if (paired[0].length < leastRounds(bar)) return null
  const measured = estimates[bar.as](...paired)
  return {
    bar,
    measured,
    met: measured.median <= bar.most && measured.high <= bar.most,
    own: sideOf(cellsOf(cells, bar, bar.server, bar.variant)),
    base: sideOf(cellsOf(cells, bar, bar.base, bar.baseVariant)),
  }
}

function sideOf(cells: readonly Cell[]): Side {
  const measured = cells.filter(({ status }) => status === 'measured')
  const shares = measured.flatMap(({ metrics }) => metrics.busy ?? [])
  return { busy: shares.length === 0 ? null : median(shares), flags: usualFlags(measured) }
}

/** Gives the values of the rounds that have both sides. */
function pairedValues(bar: Bar, cells: readonly Cell[]): [own: number[], base: number[]] {
  const own = valuesOf(cells, bar, bar.server, bar.variant)
  const base = valuesOf(cells, bar, bar.base, bar.baseVariant)
  const rounds = [...own.keys()].filter((round) => base.has(round))
  return [rounds.map((round) => own.get(round) as number), rounds.map((round) => base.get(round) as number)]
}

function leastRounds({ quantity }: Bar): number {
  return quantity === 'start' || quantity === 'idleRss' ? leastStarts : barRounds
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
  const own = cellsOf(cells, bar, entry, variant)
  if (own.some(({ status }) => status === 'disqualified')) return new Map()
  return new Map(
    own.flatMap(({ status, round, metrics }) => {
      const value = metrics[bar.quantity]
      return status === 'measured' && value !== undefined ? [[round, value] as const] : []
    }),
  )
}

function cellsOf(cells: readonly Cell[], { scenario }: Bar, entry: string, variant: string): Cell[] {
  return cells.filter(
    (cell) => cell.scenario === scenario && cell.variant === variant && cell.entry === entry,
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

/** Makes a bar for the cost of a variant on our own engine, as a multiple of another variant. */
function times(kind: Bar['kind'], scenario: string, variant: string, baseVariant: string, most: number): Bar {
  return { ...added(kind, scenario, variant, baseVariant, most), as: 'ratio' }
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
