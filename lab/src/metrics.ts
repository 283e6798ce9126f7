/** Every figure a cell may hold: what it is called, its unit, and which way is better. */
import { Failure } from './failure.ts'

/** `none`: told, never judged. */
export type Direction = 'lower' | 'higher' | 'none'

export interface Metric {
  readonly title: string
  /** As written behind a value; empty for a count. */
  readonly unit: string
  readonly direction: Direction
  /** Digits behind the point in tables. */
  readonly digits: number
}

const metric = (title: string, unit: string, direction: Direction, digits: number): Metric => ({
  title,
  unit,
  direction,
  digits,
})

/** The keys of `Cell.metrics`, in the order of tables. */
export const metrics = {
  cpu: metric('CPU per request', 'µs', 'lower', 2),
  rate: metric('requests/s', '', 'higher', 0),
  /** Of WebSockets: for a message that came and its echo, and for each subscriber that a message was sent to. */
  messageCpu: metric('CPU per message', 'µs', 'lower', 2),
  messageRate: metric('messages/s', '', 'higher', 0),
  deliveryCpu: metric('CPU per delivery', 'µs', 'lower', 2),
  deliveryRate: metric('deliveries/s', '', 'higher', 0),
  /** Of sockets that are held and say nothing. */
  socketMemory: metric('memory a socket', 'bytes', 'lower', 0),
  firstEcho: metric('echo of one more', 'ms', 'lower', 2),
  p50: metric('p50', 'ms', 'lower', 2),
  p95: metric('p95', 'ms', 'lower', 2),
  p99: metric('p99', 'ms', 'lower', 2),
  p999: metric('p99.9', 'ms', 'lower', 2),
  mean: metric('mean latency', 'ms', 'lower', 2),
  worst: metric('longest', 'ms', 'lower', 2),
  transfer: metric('transfer', 'MB/s', 'higher', 1),
  errors: metric('errors', '', 'lower', 0),
  non2xx: metric('non-2xx', '', 'lower', 0),
  rss: metric('RSS', 'MB', 'lower', 1),
  /** The most of a soak's readings. */
  mostRss: metric('RSS at most', 'MB', 'lower', 1),
  busy: metric('core busy', '%', 'none', 0),
  /** Share of the window the server's busiest thread had to wait for its core. */
  waited: metric('waited', '%', 'none', 1),
  /** Connections by the arithmetic of Little's law over those there were. */
  little: metric('Little', '', 'none', 3),
  requests: metric('requests', '', 'none', 0),
  start: metric('start to first reply', 'ms', 'lower', 1),
  /** Memory without load, under it, and 5 s after it. */
  idleRss: metric('RSS idle', 'MB', 'lower', 1),
  loadedRss: metric('RSS loaded', 'MB', 'lower', 1),
  afterRss: metric('RSS after', 'MB', 'lower', 1),
  /** Of a line through the second half of a soak's readings. */
  slope: metric('RSS slope', 'MB/min', 'lower', 2),
  /** Closed loop, found before an open loop is run. */
  capacity: metric('capacity', 'requests/s', 'higher', 0),
  /** The highest rate whose p99.9 was within the limit. */
  highest: metric('highest rate', 'requests/s', 'higher', 0),
  /** Right replies per second within the limit, at twice the capacity. */
  goodput: metric('goodput', 'requests/s', 'higher', 0),
  /** Share of the capacity. */
  /** What an open loop asked for. */
  offered: metric('requests/s asked', '', 'none', 0),
  goodputShare: metric('goodput', '% of capacity', 'higher', 0),
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof metrics

/** A lower bound where the server waited for the generator. */
export function isRate(name: MetricName): boolean {
  return name === 'rate' || name === 'messageRate' || name === 'deliveryRate'
}

/** Throws a `Failure` for a name without a declared direction. */
export function metricOf(name: string, where: string): Metric {
  if (Object.hasOwn(metrics, name)) return metrics[name as MetricName]
  throw new Failure(
    `${where}: unknown metric ${name}; known: ${Object.keys(metrics).join(' ')} (written by another version? measure again)`,
    2,
  )
}

/** Of a column: what it is, and its unit. */
export function heading(name: MetricName): string {
  const { title, unit } = metrics[name]
  return unit ? `${title}, ${unit}` : title
}

/** A value with the digits of its metric. */
export function figure(name: MetricName, value: number): string {
  const { digits } = metrics[name]
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A value with its unit, as a person reads it. */
export function written(name: MetricName, value: number): string {
  const { unit } = metrics[name]
  return unit ? `${figure(name, value)} ${unit}` : figure(name, value)
}
