/** What the product promises of CPU time, memory and start-up, and whether a run kept it. */
import { type Group, type Lane, type Sample, sidesOf } from './pair.ts'
import { type Entry, entryOf } from './roster.ts'
import { scenarioOf } from './scenario.ts'
import { type StartSample, leastStarts } from './startup.ts'
import { type Estimate, pairedDifference, pairedRatio } from './statistics.ts'

/** `cpu` is µs per request under load, `start` ms from spawn to first reply, `memory` MB of an idle server. */
export type Quantity = 'cpu' | 'start' | 'memory'

export interface Bar {
  /** `must` is a promise, `goal` is where we are going. */
  readonly kind: 'must' | 'goal'
  readonly quantity: Quantity
  /** Of the quantity `cpu`. */
  readonly lane: Lane
  readonly scenario: string
  readonly server: string
  readonly base: string
  readonly baseScenario: string
  /** A ratio of the two by round, or their difference in the unit of the quantity. */
  readonly as: 'ratio' | 'difference'
  /** What it is at most. */
  readonly most: number
}

export interface Results {
  readonly samples: readonly Sample[]
  readonly starts: readonly StartSample[]
}

export interface Verdict {
  readonly bar: Bar
  readonly measured: Estimate
  /**
   * Met when the median and the upper end of the interval of what was paired by round are within the bar, and all
   * replies were right.
   */
  readonly met: boolean
}

export const bars: readonly Bar[] = [
  ratio('must', 'native', 1.2, 'limit'),
  ratio('goal', 'native', 1.12, 'limit'),
  ratio('must', 'native', 1, 'uws'),
  ratio('must', 'native', 0.5, 'fastify'),
  ratio('must', 'node-http', 1, 'fastify'),
  ratio('goal', 'node-http', 1.03, 'node'),
  ratio('must', 'native', 1, 'uws', { lane: 'pipelined' }),
  ratio('must', 'native', 0.125, 'fastify', { lane: 'pipelined' }),
  ratio('goal', 'native', 1.7, 'limit', { lane: 'pipelined' }),
  added('must', 'param', 'static', 0.25),
  added('goal', 'param', 'static', 0.1),
  added('must', 'middleware', 'none', 0.6),
  added('goal', 'middleware', 'none', 0.3),
  ratio('must', 'native', 0.65, 'fastify', { scenario: 'users' }),
  ratio('goal', 'native', 1, 'uws', { scenario: 'users' }),
  fresh('must', 'start', 40),
  fresh('goal', 'start', 5),
  fresh('must', 'memory', 15),
  fresh('goal', 'memory', 0),
]

/** Fewer rounds judge nothing. */
export const barRounds = 5

/** What has to be measured under load for the bars, with `more` servers beside them in `json`. */
export function barGroups(more: readonly Entry[]): Group[] {
  const group = (lane: Lane, scenario: string, servers: readonly Entry[]): Group => ({
    lane,
    sides: sidesOf([...new Set(servers)], scenarioOf(scenario)),
  })
  const over = (scenario: string, base: string): Group => ({
    lane: 'plain',
    sides: [base, scenario].flatMap((name) => sidesOf([entryOf('native')], scenarioOf(name))),
  })
  const named = (...names: string[]): Entry[] => names.map(entryOf)
  return [
    group('plain', 'json', [...named('limit', 'native', 'uws', 'fastify', 'node-http', 'node'), ...more]),
    group('pipelined', 'json', [...named('limit', 'native', 'uws', 'fastify'), ...more]),
    over('param', 'static'),
    over('middleware', 'none'),
    group('plain', 'users', named('uws', 'native', 'fastify')),
  ]
}

/** The servers whose start and idle memory are told, bare node:http being the base. */
export const startServers: readonly string[] = ['node', 'native', 'node-http', 'uws', 'fastify']

/** Judges the bars whose two sides are in the run; none with fewer than 5 rounds, or 10 processes started. */
export function judge(results: Results): Verdict[] {
  return bars.flatMap((bar) => {
    const own = valuesOf(results, bar.quantity, bar.lane, bar.scenario, bar.server)
    const base = valuesOf(results, bar.quantity, bar.lane, bar.baseScenario, bar.base)
    const least = bar.quantity === 'cpu' ? barRounds : leastStarts
    if (own.length < least || base.length !== own.length) return []
    const measured = bar.as === 'ratio' ? pairedRatio(own, base) : pairedDifference(own, base)
    const within = measured.median <= bar.most && measured.high <= bar.most
    return [{ bar, measured, met: within && !failed(results, bar) }]
  })
}

/** Replies other than 2xx cost less: a server that gave any has kept no promise about CPU time. */
function failed(
  { samples }: Results,
  { quantity, lane, server, scenario, base, baseScenario }: Bar,
): boolean {
  const sides = [`${server} ${scenario}`, `${base} ${baseScenario}`]
  return (
    quantity === 'cpu' &&
    samples.some(
      (one) => one.lane === lane && one.non2xx > 0 && sides.includes(`${one.server} ${one.scenario}`),
    )
  )
}

/** What was measured of one server, by round. */
export function valuesOf(
  { samples, starts }: Results,
  quantity: Quantity,
  lane: Lane,
  scenario: string,
  server: string,
): number[] {
  if (quantity === 'cpu') {
    return samples
      .filter((one) => one.lane === lane && one.scenario === scenario && one.server === server)
      .toSorted((a, b) => a.round - b.round)
      .map((one) => one.cpuMicrosecondsPerRequest)
  }
  return starts
    .filter((one) => one.server === server)
    .toSorted((a, b) => a.round - b.round)
    .map((one) => (quantity === 'start' ? one.startMilliseconds : one.idleBytes / 1e6))
}

/** CPU time of `server` over that of `base`. */
function ratio(
  kind: Bar['kind'],
  server: string,
  most: number,
  base: string,
  { lane = 'plain', scenario = 'json' }: { lane?: Lane; scenario?: string } = {},
): Bar {
  return { kind, quantity: 'cpu', lane, scenario, server, base, baseScenario: scenario, as: 'ratio', most }
}

/** CPU time that `scenario` adds to `baseScenario` on our own engine. */
function added(kind: Bar['kind'], scenario: string, baseScenario: string, most: number): Bar {
  const [server, base] = ['native', 'native']
  return {
    kind,
    quantity: 'cpu',
    lane: 'plain',
    scenario,
    server,
    base,
    baseScenario,
    as: 'difference',
    most,
  }
}

/** What our own engine adds to a fresh process of bare node:http. */
function fresh(kind: Bar['kind'], quantity: Quantity, most: number): Bar {
  const [scenario, baseScenario] = ['json', 'json']
  const [server, base, as] = ['native', 'node', 'difference'] as const
  return { kind, quantity, lane: 'plain', scenario, server, base, baseScenario, as, most }
}
