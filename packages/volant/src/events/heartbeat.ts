/** Beats for streams that are quiet: one timer for all streams of the same interval, none while there is no stream. */
import { AsyncResource } from 'node:async_hooks'

/** A stream that is kept open. */
export interface Beating {
  /** How many ticks have passed since something was sent. What sends sets it to 0. */
  quiet: number
  beat(): void
}

/** The ticks of an interval: an event costs a write to `quiet`, and the silence ends after two to three thirds of it. */
const ticks = 3

interface Pulse {
  readonly streams: Set<Beating>
  readonly timer: NodeJS.Timeout
}

const pulses = new Map<number, Pulse>()

/** The timers belong to no request: in the async context of the first one they would keep what that has stored. */
const outside = new AsyncResource('VolantHeartbeat')

/** Calls `beat` when the stream was quiet for `interval` ms at most. Gives the function that ends it. */
export function keepBeating(stream: Beating, interval: number): () => void {
  let pulse = pulses.get(interval)
  if (pulse === undefined) {
    const streams = new Set<Beating>()
    const every = Math.max(1, Math.floor(interval / ticks))
    const timer = outside.runInAsyncScope(() => setInterval(tick, every, streams))
    // The connections keep the process alive, not their heartbeats.
    timer.unref()
    pulse = { streams, timer }
    pulses.set(interval, pulse)
  }
  const { streams, timer } = pulse
  streams.add(stream)
  return () => {
    if (!streams.delete(stream) || streams.size > 0) return
    clearInterval(timer)
    pulses.delete(interval)
  }
}

function tick(streams: Set<Beating>): void {
  for (const stream of streams) {
    stream.quiet++
    if (stream.quiet >= ticks) stream.beat()
  }
}
