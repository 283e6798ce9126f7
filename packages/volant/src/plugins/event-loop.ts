/** Measures how late timers come: they come late when something blocks the event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The lag in milliseconds. */
export interface EventLoopLag {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** The type is taken from the function, since its name differs between versions of Node.js. */
type Delays = ReturnType<typeof monitorEventLoopDelay>

/** The delay is sampled this often, in milliseconds. */
const resolution = 20
/** A figure covers at least this many milliseconds. */
const span = 5_000

let monitor: Delays | null = null
let since = 0
let last: EventLoopLag | null = null

/** Starts to measure, once in a process. It does not keep the process alive. */
export function watchEventLoop(): Delays {
  if (monitor !== null) return monitor
  monitor = monitorEventLoopDelay({ resolution })
  monitor.enable()
  since = performance.now()
  return monitor
}

/** Gives the lag of the last five seconds, or since the call before if that was longer ago. */
export function eventLoopLag(): EventLoopLag {
  const histogram = watchEventLoop()
  const due = performance.now() - since >= span
  if (!due) return last ?? read(histogram)
  last = read(histogram)
  histogram.reset()
  since = performance.now()
  return last
}

function read(histogram: Delays): EventLoopLag {
  return {
    p50: late(histogram.percentile(50)),
    p99: late(histogram.percentile(99)),
    max: late(histogram.max),
  }
}

/** The figure of Node.js includes the time that it meant to wait. */
function late(ns: number): number {
  return Math.max(0, ns / 1e6 - resolution)
}
