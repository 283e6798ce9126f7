/** The page at `/live`, and the events that it shows: one timer for all who look, and none while nobody does. */
import {
  type App,
  type Context,
  encodeEvent,
  type EventStream,
  type Metrics,
  type MetricsSnapshot,
} from 'volant'
import { livePage } from './live-page.ts'
import { contentSecurityPolicy } from './page.ts'

/** The figures of a second. */
export interface Figures extends Omit<MetricsSnapshot, 'routes' | 'latency'> {
  /** When they were taken, in ms since 1970: the id of the event. */
  readonly at: number
  /** Requests a second, and processor seconds a second, since the figures before; null in the first. */
  readonly rate: number | null
  readonly load: number | null
  /** The pages that look on. */
  readonly streams: number
}

const interval = 1_000
/** The seconds that a page shows as soon as it is open. */
const kept = 60

export function live(app: App, meter: Metrics): void {
  const viewers = new Map<EventStream, Context>()
  let past: Figures[] = []
  let timer: NodeJS.Timeout | undefined

  const tick = (): void => {
    const [ctx] = viewers.values()
    if (ctx === undefined) return
    const figures = figuresOf(meter.figures(ctx), past.at(-1), viewers.size)
    past = [...past, figures].slice(-kept)
    const event = encodeEvent(eventOf(figures))
    for (const stream of viewers.keys()) stream.send(event)
  }

  app.get('/live/events', { hidden: true }, (ctx) => {
    const seen = Number(ctx.lastEventId ?? 0)
    ctx.sse((stream) => {
      for (const figures of past) if (figures.at > seen) stream.send(eventOf(figures))
      viewers.set(stream, ctx as Context)
      if (viewers.size === 1) {
        timer = setInterval(tick, interval)
        tick()
      }
      return () => {
        viewers.delete(stream)
        if (viewers.size > 0) return
        clearInterval(timer)
        past = []
      }
    })
  })

  app.get('/live', { hidden: true }, (ctx) => {
    ctx.header('content-security-policy', contentSecurityPolicy)
    ctx.html(livePage(app.adapterName, figuresOf(meter.figures(ctx as Context), undefined, viewers.size)))
  })
}

function eventOf(figures: Figures) {
  return { id: figures.at, event: 'figures', data: figures }
}

function figuresOf(snapshot: MetricsSnapshot, before: Figures | undefined, streams: number): Figures {
  const { routes: _, latency: _latency, ...figures } = snapshot
  const at = Date.now()
  const seconds = before === undefined ? 0 : (at - before.at) / 1_000
  const since = (now: number, then: (figures: Figures) => number): number | null =>
    before === undefined || seconds <= 0 ? null : (now - then(before)) / seconds
  const { user, system } = figures.cpu
  return {
    ...figures,
    at,
    rate: since(figures.server.requests, ({ server }) => server.requests),
    load: since(user + system, ({ cpu }) => cpu.user + cpu.system),
    streams,
  }
}
