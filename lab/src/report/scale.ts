/** From values to places along an axis, and where its ticks are. */

export interface Scale {
  /** 0 at the start of the axis, 1 at its end. */
  at(value: number): number
  readonly ticks: readonly number[]
}

/** From 0, or from the least value when that is below 0, to a round number. */
export function linearScale(values: readonly number[], ticks = 5): Scale {
  const least = Math.min(0, ...values)
  const most = Math.max(0, ...values)
  const step = roundStep((most - least || 1) / ticks)
  const from = Math.floor(least / step) * step
  const to = Math.max(Math.ceil(most / step), Math.floor(least / step) + 1) * step
  const places: number[] = []
  for (let index = 0; from + index * step <= to + step / 2; index += 1) places.push(from + index * step)
  return { at: (value) => (value - from) / (to - from), ticks: places }
}

/** Whole powers of ten around the values; 1, 2 and 5 of each when they are few. Values must be above 0. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0)
  const least = positive.length ? Math.min(...positive) : 1
  const most = positive.length ? Math.max(...positive) : 10
  const lowest = Math.floor(Math.log10(least))
  const highest = Math.max(Math.ceil(Math.log10(most)), lowest + 1)
  const steps: number[] = []
  for (let power = lowest; power <= highest; power += 1) {
    for (const digit of highest - lowest > 3 ? [1] : [1, 2, 5]) steps.push(digit * 10 ** power)
  }
  const from = steps.findLast((step) => step <= least * 1.0001) ?? (steps[0] as number)
  const to = steps.find((step) => step >= most * 0.9999 && step > from) ?? (steps.at(-1) as number)
  const width = Math.log10(to) - Math.log10(from)
  return {
    at: (value) => (Math.log10(value) - Math.log10(from)) / width,
    ticks: steps.filter((step) => step >= from && step <= to),
  }
}

/** Ticks at the values themselves, which were chosen by a person: 10, 50, 100, 500 connections. */
export function chosenScale(values: readonly number[]): Scale {
  const ticks = [...new Set(values)].toSorted((a, b) => a - b)
  const from = ticks[0] ?? 0
  const to = ticks.at(-1) ?? 1
  if (from > 0 && to / from >= 10) {
    const width = Math.log(to / from)
    return { at: (value) => Math.log(value / from) / width, ticks }
  }
  return { at: (value) => (to === from ? 0.5 : (value - from) / (to - from)), ticks }
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough))
  const digit = [1, 2, 2.5, 5].find((candidate) => candidate * power >= rough * 0.9999) ?? 10
  return digit * power
}
