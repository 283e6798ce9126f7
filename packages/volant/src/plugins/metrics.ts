/** Measures an app: what its requests took by route, what its server counts, how the process is doing. */
// prom-client costs 6,300 instructions a request, this 750 (`node lab/libraries.mjs metrics`).
import { methods, type ServerStats } from '@volant/engine'
import type { BusStats } from '../types/bus.ts'
import type { Context } from '../types/context.ts'
import { bad } from '../options/bad-option.ts'
import { observer } from '../dispatch/declare.ts'
import { checkNames } from '../options/checks.ts'
import { HTTPError } from '../errors/errors.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import { type EventLoopLag, watchEventLoop } from './event-loop.ts'
import { Latency, type Quantiles, type Recent } from './latency.ts'
import { clusterExposition, exposition } from './prometheus.ts'
import { type ClusterFigures, processFigures, SharedMetrics } from './shared-metrics.ts'
import type { CompiledRoute, RequestApp, RequestContext } from '../types/request.ts'
import { supervision } from '../worker/supervision.ts'
import type { ResponseInfo } from '../types/declaration.ts'

/** The options of `metrics`. */
export interface MetricsOptions {
  /**
   * The upper bounds of the duration histogram's buckets, in seconds, ascending. Default: 16 from 0.1 ms to 10 s. Each
   * route has a time series for every bucket, method and class of status it replied with.
   */
  buckets?: readonly number[] | undefined
}

/** A middleware that observes, and the handlers that tell what it saw. */
export interface Metrics extends FittingMiddleware {
  /**
   * A handler that replies with all figures in the text format 0.0.4 of Prometheus. In a worker of a supervisor they are
   * those of all workers, and it replies with 503 if the supervisor does not answer.
   */
  readonly handler: (ctx: Context) => void | Promise<void>
  /** A handler that replies with the same figures as an object, for pages and for tests. */
  readonly snapshot: (ctx: Context) => MetricsSnapshot
  /** The same figures without a reply: for `ctx.sse`, which sends them again and again. */
  readonly figures: (ctx: Context) => MetricsSnapshot
}

/** The figures that `metrics` has now. */
export interface MetricsSnapshot {
  /** The seconds since the process started. */
  readonly uptime: number
  /** The requests whose reply is complete. */
  readonly requests: number
  /** The counters of the server, and of the bus if the app has one; see `app.stats()`. */
  readonly server: ServerStats & { readonly bus?: BusStats }
  /** The figures of the last two to four seconds, where this is read every second; without streams of `ctx.sse`. */
  readonly recent: Recent
  /** The durations since start, in milliseconds, without those of streams of `ctx.sse`. */
  readonly latency: Quantiles
  /** The memory of the process in bytes. */
  readonly memory: NodeJS.MemoryUsage
  /** The seconds of processor time since start. */
  readonly cpu: { readonly user: number; readonly system: number }
  /** The lag of the event loop in the last five seconds, in milliseconds. */
  readonly eventLoopLag: EventLoopLag
  /** An entry for each route, method and class of status that was seen. */
  readonly routes: readonly RouteFigures[]
  /**
   * The supervisor and its workers, where there is one: the figures beside it are those of this worker alone. They are
   * asked for in the background, so that they are up to a second old where this is read every second, and absent where it
   * was not read in the last five.
   */
  readonly cluster?: ClusterFigures
}

/** The figures of a route, by method and class of status. */
export interface RouteFigures {
  /** The pattern; `unmatched` for requests no route took. */
  readonly route: string
  /** The method of the requests. */
  readonly method: string
  /** The class of the status. */
  readonly status: StatusClass
  /** The number of requests. */
  readonly count: number
  /** The seconds that all of them took. */
  readonly seconds: number
  /** The requests by bucket, the last one for those that took longer than any bound. */
  readonly buckets: readonly number[]
}

export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx'

const classes: readonly StatusClass[] = ['1xx', '2xx', '3xx', '4xx', '5xx']
const defaultBuckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/**
 * Observes the requests of the scope it is used in, on the app all of them:
 *
 *     const meter = metrics()
 *     app.use(meter)
 *     app.get('/metrics', meter.handler)
 *
 * The handlers are routes like others, so that the same middleware guards them. Labels are bounded: patterns of
 * routes rather than paths, known methods, classes of status. What the engine refuses before a request reaches the
 * app (malformed heads, limits) is counted by the server and has no duration. Throws `E_BAD_OPTION` for buckets that are
 * no ascending list of positive numbers.
 *
 * Workers of a supervisor are counted together: the first one that an app makes with the first one in the other workers,
 * and so on.
 */
export function metrics(options: MetricsOptions = {}): Metrics {
  checkNames('metrics', options, ['buckets'])
  const bounds = checkBuckets(options.buckets === undefined ? defaultBuckets : options.buckets)
  const tally = new Tally(bounds)
  watchEventLoop()
  const supervisor = supervision()
  const shared = supervisor === null ? null : new SharedMetrics(supervisor, bounds, () => tally.figures())
  const figures = (ctx: Context): MetricsSnapshot => snapshotOf(tally, appOf(ctx), shared)
  return Object.assign(
    observer((ctx, info) => tally.add(ctx as unknown as RequestContext, info)),
    {
      handler: (ctx: Context): void | Promise<void> => {
        if (shared === null) return reply(ctx, exposition(figures(ctx), bounds))
        return shared
          .gather(appOf(ctx))
          .catch(unknown)
          .then((all) => reply(ctx, clusterExposition(all, bounds)))
      },
      snapshot: (ctx: Context): MetricsSnapshot => {
        ctx.header('cache-control', 'no-store')
        return figures(ctx)
      },
      figures,
    },
  ) as Metrics
}

function appOf(ctx: Context): RequestApp['serving'] {
  return (ctx as unknown as RequestContext).app.serving
}

function reply(ctx: Context, text: string): void {
  ctx.header('content-type', 'text/plain; version=0.0.4; charset=utf-8').header('cache-control', 'no-store')
  ctx.text(text)
}

/** The figures of this worker alone would be counters that go back: a scrape that fails is better. */
function unknown(cause: unknown): never {
  throw new HTTPError(503, 'The figures of the other workers cannot be had: the supervisor does not answer', {
    expose: true,
    cause,
  })
}

function snapshotOf(tally: Tally, app: RequestApp['serving'], shared: SharedMetrics | null): MetricsSnapshot {
  const { latency } = tally
  const { memory, cpu, eventLoopLag } = processFigures()
  const cluster = shared?.latest(app)
  return {
    uptime: process.uptime(),
    requests: latency.total + tally.streams,
    server: app.stats(),
    recent: latency.recent(),
    latency: latency.quantiles(),
    memory,
    cpu,
    eventLoopLag,
    routes: tally.figures(),
    ...(cluster !== undefined && { cluster }),
  }
}

/** Counts by route, method and class of status, in one array of numbers for each route and method. */
class Tally {
  readonly latency = new Latency()
  /** The streams of events that have ended. How long somebody looked on is no time that a reply took. */
  streams = 0
  readonly #bounds: Float64Array
  /** The length of one class: the buckets, one for what took longer, and the sum of milliseconds. */
  readonly #width: number
  /** The series by compiled route, for speed. */
  readonly #routes = new WeakMap<CompiledRoute, (Float64Array | null)[]>()
  /** The indexes of the series of a route: the methods every server has, and others as requests come. */
  readonly #methods: string[] = [...methods]
  /** The series by pattern, since an app that is changed after an `inject` compiles its routes anew. */
  readonly #patterns = new Map<string, (Float64Array | null)[]>()

  constructor(bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds, (seconds) => seconds * 1_000)
    this.#width = bounds.length + 2
  }

  /** This runs for every request that is measured (lab/pair middleware). */
  add(ctx: RequestContext, { status, duration }: ResponseInfo): void {
    const series = this.#routes.get(ctx.route) ?? this.#open(ctx.route)
    let method = this.#methods.indexOf(ctx.method)
    // It is one of the router option, TRACE or CONNECT: methods the router does not know are refused before.
    if (method < 0) method = this.#methods.push(ctx.method) - 1
    const counts = (series[method] ??= new Float64Array(classes.length * this.#width))
    const from = (((status / 100) | 0) - 1) * this.#width
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && duration > (bounds[at] as number)) at++
    counts[from + at] = (counts[from + at] as number) + 1
    const sum = from + bounds.length + 1
    counts[sum] = (counts[sum] as number) + duration
    if (ctx.rare?.events == null) this.latency.add(duration)
    else this.streams++
  }

  #open(route: CompiledRoute): (Float64Array | null)[] {
    const pattern = route.pattern ?? 'unmatched'
    const series = this.#patterns.get(pattern) ?? methods.map(() => null)
    this.#patterns.set(pattern, series)
    this.#routes.set(route, series)
    return series
  }

  figures(): RouteFigures[] {
    return [...this.#patterns].flatMap(([route, series]) =>
      series.flatMap((counts, index) =>
        counts === null ? [] : this.#figuresOf(route, this.#methods[index] as string, counts),
      ),
    )
  }

  #figuresOf(route: string, method: string, counts: Float64Array): RouteFigures[] {
    return classes.flatMap((status, index): RouteFigures[] => {
      const from = index * this.#width
      const buckets = [...counts.subarray(from, from + this.#width - 1)]
      const count = buckets.reduce((sum, each) => sum + each, 0)
      const seconds = (counts[from + this.#width - 1] as number) / 1_000
      return count === 0 ? [] : [{ route, method, status, count, seconds, buckets }]
    })
  }
}

function checkBuckets(buckets: readonly number[]): readonly number[] {
  const right =
    Array.isArray(buckets) &&
    buckets.length > 0 &&
    buckets.every(
      (bound, at) => Number.isFinite(bound) && bound > (at === 0 ? 0 : (buckets[at - 1] as number)),
    )
  if (!right) throw bad('metrics.buckets', buckets, 'a list of positive numbers of seconds, ascending')
  return [...buckets]
}
