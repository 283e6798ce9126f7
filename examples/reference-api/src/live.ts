/** The page at `/live`, and the events that it shows: one timer for all who look, and none while nobody does. */
import {
  type App,
  type Context,
  encodeEvent,
  type EventStream,
  type Metrics,
  type MetricsSnapshot,
} from 'volant'
import { worker } from 'volant/cluster'
import { allowedHosts, ipRestriction } from 'volant/middleware'
import { csrf } from 'volant/session'
import { livePage } from './live-page.ts'
import { contentSecurityPolicy } from './page.ts'
import { sumOf, WorkerRates, type Workers } from './workers.ts'

/**
 * The figures of a second. With several workers the rate, the load, the counters of the server and the resident set size
 * are those of all of them; all else is of the one that gives the figures.
 */
export interface Figures extends Omit<MetricsSnapshot, 'routes' | 'latency'> {
  /** When they were taken, in ms since 1970: the id of the event. */
  readonly at: number
  /** Requests a second, and processor seconds a second, since the figures before; null in the first. */
  readonly rate: number | null
  readonly load: number | null
  /** The pages that look on. */
  readonly streams: number
  /** Null without a supervisor. */
  readonly workers: Workers | null
}

const interval = 1_000
/** The seconds that a page shows as soon as it is open. */
const kept = 60
/** Figures that are not older, in ms, are given again, so that each rate is of a time that is long enough. */
const fresh = interval / 2
/** Rates since figures that are older, in ms, would not be those of now. */
const stale = 5 * interval
/** In ms: a worker that is replaced closes its streams, and the others are there at once. */
const retry = 500

export function live(app: App, meter: Metrics, canRestart: boolean): void {
  const viewers = new Map<EventStream, Context>()
  const rates = new WorkerRates()
  let last: Figures | undefined
  let past: Figures[] = []
  let timer: NodeJS.Timeout | undefined

  const figuresFor = async (ctx: Context): Promise<Figures> => {
    const workers = await rates.now()
    const age = last === undefined ? Infinity : Date.now() - last.at
    if (last !== undefined && age < fresh) return last
    const before = age < stale ? last : undefined
    last = figuresOf(meter.figures(ctx), workers, before, viewers.size)
    return last
  }

  const tick = async (): Promise<void> => {
    const [ctx] = viewers.values()
    if (ctx === undefined) return
    const figures = await figuresFor(ctx)
    if (viewers.size === 0 || figures === past.at(-1)) return
    past = [...past, figures].slice(-kept)
    const event = encodeEvent(eventOf(figures))
    for (const stream of viewers.keys()) stream.send(event)
  }

  app.get('/live/events', { hidden: true }, (ctx) => {
    const seen = Number(ctx.lastEventId ?? 0)
    ctx.sse(
      (stream) => {
        for (const figures of past) if (figures.at > seen) stream.send(eventOf(figures))
        viewers.set(stream, ctx as Context)
        if (viewers.size === 1) {
          timer = setInterval(() => void tick(), interval)
          void tick()
        }
        return () => {
          viewers.delete(stream)
          if (viewers.size > 0) return
          clearInterval(timer)
          past = []
        }
      },
      { retry },
    )
  })

  app.get('/live/figures', { hidden: true }, (ctx) => figuresFor(ctx as Context))

  app.get('/live', { hidden: true }, async (ctx) => {
    ctx.header('content-security-policy', contentSecurityPolicy)
    ctx.html(livePage(app.adapterName, await figuresFor(ctx as Context), canRestart))
  })

  if (!canRestart || !worker.isSupervised) return
  // Others in the network may look on. A name of a stranger that leads here (DNS rebinding) is not one of these.
  const local = app
    .with(ipRestriction({ allow: ['loopback'] }))
    .with(allowedHosts(['localhost', '127.0.0.1', '[::1]']))
  local.with(csrf()).post('/live/restart', { hidden: true }, async (ctx) => {
    const cluster = await worker.cluster()
    // One that is asked for during a roll would follow it.
    if (cluster?.isRolling === false) worker.roll()
    ctx.json({ message: 'The workers are replaced, one after the other' }, 202)
  })
}

function eventOf(figures: Figures) {
  return { id: figures.at, event: 'figures', data: figures }
}

function figuresOf(
  snapshot: MetricsSnapshot,
  workers: Workers | null,
  before: Figures | undefined,
  streams: number,
): Figures {
  const { routes: _, latency: _latency, ...figures } = snapshot
  const at = Date.now()
  const own = { ...figures, at, streams }
  if (workers !== null) return { ...own, workers, ...totals(figures, workers) }
  const since = (now: number, then: (figures: Figures) => number): number | null =>
    before === undefined ? null : ((now - then(before)) * 1_000) / (at - before.at)
  const { user, system } = figures.cpu
  return {
    ...own,
    workers: null,
    rate: since(figures.server.requests, ({ server }) => server.requests),
    load: since(user + system, ({ cpu }) => cpu.user + cpu.system),
  }
}

function totals({ server, memory }: Pick<Figures, 'server' | 'memory'>, workers: Workers) {
  const sum = (read: Parameters<typeof sumOf>[1]): number => sumOf(workers, read) ?? 0
  return {
    rate: sumOf(workers, ({ rate }) => rate),
    load: sumOf(workers, ({ load }) => load),
    server: {
      ...server,
      connections: sum(({ connections }) => connections),
      inFlight: sum(({ inFlight }) => inFlight),
      requests: sum(({ requests }) => requests),
    },
    memory: { ...memory, rss: sum((each) => each.memory) },
  }
}
