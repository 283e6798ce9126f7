/** How late the event loop is: timers that come late mean that something blocks it. */
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Milliseconds. */
export interface EventLoopLag {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

/** By what makes it: the name of its type is not the same in all versions of Node.js. */
type Delays = ReturnType<typeof monitorEventLoopDelay>

/** Milliseconds between two looks. */
const resolution = 20
/** Milliseconds a reading goes back at least. */
const span = 5_000

let monitor: Delays | null = null
let since = 0
let last: EventLoopLag | null = null

/** Begins to look, once a process. It does not keep the process alive. */
export function watchEventLoop(): Delays {
  if (monitor !== null) return monitor
  monitor = monitorEventLoopDelay({ resolution })
  monitor.enable()
  since = performance.now()
  return monitor
}

/** The lag of the last five seconds, or since the reading before if that is longer ago. */
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

/** What Node.js measures includes the time it meant to wait. */
function late(ns: number): number {
  return Math.max(0, ns / 1e6 - resolution)
}
