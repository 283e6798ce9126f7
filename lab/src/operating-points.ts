/** Closed loops at several counts of connections: a lead at one of them says nothing about the others. */
import type { Scenario, Variant } from './scenario.ts'

/** One connection alone, a few, and enough of them that the server is never without a request. */
export const operatingPoints: readonly number[] = [1, 10, 100]

/** Each plain closed loop of the scenario at each of these counts, in place of its own; other variants as they are. */
export function atConnections(
  { sweep }: Pick<Scenario, 'sweep'>,
  variants: readonly Variant[],
  counts: readonly number[],
): Variant[] {
  return variants.flatMap((variant) =>
    sweep !== true && hasPoints(variant) ? counts.map((count) => pointOf(variant, count)) : [variant],
  )
}

/** The variant at one count of connections: at its own it keeps its name. */
export function pointOf(variant: Variant, connections: number): Variant {
  const { measure, name } = variant
  const point = { of: name, connections }
  if (measure.load.connections === connections) return { ...variant, point }
  const words = `${connections} connection${connections === 1 ? '' : 's'}`
  return {
    ...variant,
    name: name === 'default' ? words : `${name}, ${words}`,
    measure: { ...measure, load: { ...measure.load, connections } },
    point,
  }
}

function hasPoints({ lane, measure }: Variant): boolean {
  return lane === 'plain' && measure.kind === 'load' && measure.load.pipelining === 1
}
