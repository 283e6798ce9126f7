/** What figures must satisfy before anybody sees them. */
import type { Flag } from './cell.ts'
import type { LoadResult } from './generators/generator.ts'

/** The most by which Little's law, and the length of a window, may be missed. */
const tolerance = 0.05
/** What the edges may explain, whatever the longest latency was. */
const edgesAtMost = 0.1

/**
 * Little's law in a closed loop: requests in flight are requests/s times mean latency. Where it does not hold, one of
 * the three was not measured (a latency in the wrong unit, replies counted that were not there). What is in flight at
 * the window's two edges is allowed for: it waited partly outside the window, for the longest latency at most.
 */
export function littleFault(
  { requests, seconds, mean, worst }: Pick<LoadResult, 'requests' | 'seconds' | 'mean' | 'worst'>,
  atOnce: number,
): { share: number | null; fault: string | null } {
  if (mean === null || requests === 0) return { share: null, fault: null }
  const inFlight = ((requests / seconds) * mean) / 1e3
  const share = inFlight / atOnce
  const edges = worst === null ? (2 * atOnce) / requests : worst / 1e3 / seconds
  const allowed = tolerance + Math.min(edges, edgesAtMost)
  if (Math.abs(share - 1) <= allowed) return { share, fault: null }
  return {
    share,
    fault: `Little's law: requests/s times mean latency is ${inFlight.toFixed(1)} requests in flight, and there were ${atOnce}`,
  }
}

/**
 * Checks the times at which CPU time was read. It is read when a generator reports that its window begins and ends, and
 * a late reading belongs to another window.
 */
export function windowFault(elapsed: number, seconds: number): string | null {
  if (Math.abs(elapsed / seconds - 1) <= tolerance) return null
  return `CPU time is that of ${elapsed.toFixed(2)} s, and the window was ${seconds} s`
}

/** Checks the number of handler runs that a server counted itself. */
export function handlersFault(
  ran: number,
  { replies, handled = replies, handledAtMost }: Pick<LoadResult, 'replies' | 'handled' | 'handledAtMost'>,
): string | null {
  if (ran < handled) return `its handlers ran ${ran} times for ${handled} replies: it answers without them`
  if (handledAtMost === undefined || ran <= handledAtMost) return null
  return `its handlers ran ${ran} times, and what came has the bytes of ${replies} replies: they are too short`
}

/** Below this share of its core, run or waited for, the server waited for the generator. */
const saturated = 0.95
/** Others had its core for this share of the time. */
const disturbed = 0.05

/** Of shares of the window: the server's threads ran, and the busiest of them waited for its core. */
export function flagsOf({ busy, waited }: { busy: number; waited: number }): Flag[] {
  const taken = waited >= disturbed
  // What others took of its core is not what the generator left.
  const bound = (taken ? busy + waited : busy) < saturated
  return [...(taken ? (['disturbed'] as const) : []), ...(bound ? (['generator-bound'] as const) : [])]
}

/** Slope of the line of least squares through points, in units of y per unit of x. Null with fewer than 3. */
export function slopeOf(points: readonly (readonly [number, number])[]): number | null {
  if (points.length < 3) return null
  const mean = (index: 0 | 1): number => points.reduce((sum, point) => sum + point[index], 0) / points.length
  const [x0, y0] = [mean(0), mean(1)]
  const over = points.reduce((sum, [x, y]) => sum + (x - x0) * (y - y0), 0)
  const under = points.reduce((sum, [x]) => sum + (x - x0) ** 2, 0)
  return under === 0 ? null : over / under
}
