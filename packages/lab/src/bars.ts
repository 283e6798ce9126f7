/** What the product promises of CPU time per request, and whether a run kept it. */
import type { Lane, Sample } from './pair.ts'
import { type Estimate, pairedRatio } from './statistics.ts'

export interface Bar {
  readonly server: string
  readonly base: string
  readonly lane: Lane
  /** CPU time per request of `server` over that of `base`, at most. */
  readonly ratio: number
  /** `must` is a promise, `goal` is where we are going. */
  readonly kind: 'must' | 'goal'
}

export const bars: readonly Bar[] = [
  { server: 'native', base: 'limit', lane: 'plain', ratio: 1.2, kind: 'must' },
  { server: 'native', base: 'uws', lane: 'plain', ratio: 1, kind: 'must' },
  { server: 'native', base: 'fastify', lane: 'plain', ratio: 0.5, kind: 'must' },
  { server: 'native', base: 'uws', lane: 'pipelined', ratio: 1, kind: 'must' },
  { server: 'native', base: 'fastify', lane: 'pipelined', ratio: 0.125, kind: 'must' },
  { server: 'node-http', base: 'fastify', lane: 'plain', ratio: 1, kind: 'must' },
  { server: 'native', base: 'limit', lane: 'plain', ratio: 1.12, kind: 'goal' },
  { server: 'native', base: 'limit', lane: 'pipelined', ratio: 1.7, kind: 'goal' },
  { server: 'node-http', base: 'node', lane: 'plain', ratio: 1.03, kind: 'goal' },
]

/** The servers a run needs to judge every promise. */
export const barServers: readonly string[] = ['limit', 'native', 'uws', 'fastify', 'node-http']

/** Fewer rounds judge nothing. */
export const barRounds = 5

export interface Verdict {
  readonly bar: Bar
  readonly measured: Estimate
  /** Met when the median and the upper end of the interval of the paired ratio are within the bar. */
  readonly met: boolean
}

/** Judges the bars whose two servers are in the run; none with fewer than 5 rounds. */
export function judge(samples: readonly Sample[]): Verdict[] {
  return bars.flatMap((bar) => {
    const measured = ratioOf(samples, bar.lane, bar.server, bar.base)
    if (!measured || costs(samples, bar.lane, bar.server).length < barRounds) return []
    return [{ bar, measured, met: measured.median <= bar.ratio && measured.high <= bar.ratio }]
  })
}

/** The paired ratio of CPU time per request, or null when one of the two is not in the lane. */
export function ratioOf(
  samples: readonly Sample[],
  lane: Lane,
  server: string,
  base: string,
): Estimate | null {
  const values = costs(samples, lane, server)
  const others = costs(samples, lane, base)
  return values.length && others.length ? pairedRatio(values, others) : null
}

/** CPU time per request of one server in one lane, by round. */
function costs(samples: readonly Sample[], lane: Lane, server: string): number[] {
  return samples
    .filter((sample) => sample.lane === lane && sample.server === server)
    .toSorted((a, b) => a.round - b.round)
    .map((sample) => sample.cpuMicrosecondsPerRequest)
}
