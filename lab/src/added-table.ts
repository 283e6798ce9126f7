/** What each variant of a scenario adds to the one without the work, on Volant's own engine, in Markdown. */
import type { Results } from './analysis.ts'
import type { Cell } from './cell.ts'
import { median as medianOf, pairedDifference } from './statistics.ts'

const own = 'native'
/** The variant without the work. */
const bare = 'none'

export function addedLines({ run, cells }: Results): string[] {
  return [
    '| scenario | variant | without, µs | adds, µs | 95 % |',
    '|:---|:---|---:|---:|---:|',
    ...run.scenarios.flatMap(({ name, title, variants }) => {
      const without = costs(cells, name, bare)
      return variants
        .filter((variant) => variant.name !== bare)
        .flatMap((variant) => lineOf(title, variant.name, costs(cells, name, variant.name), without))
    }),
  ]
}

function lineOf(
  title: string,
  variant: string,
  within: ReadonlyMap<number, number>,
  without: ReadonlyMap<number, number>,
): string[] {
  const rounds = [...within.keys()].filter((round) => without.has(round))
  if (rounds.length === 0) return []
  const values = rounds.map((round) => within.get(round) as number)
  const base = rounds.map((round) => without.get(round) as number)
  const { low, median, high } = pairedDifference(values, base)
  const number = (value: number): string => value.toFixed(2).replace('-', '−')
  return [
    `| ${[title, variant, number(medianOf(base)), number(median), `${number(low)} to ${number(high)}`].join(' | ')} |`,
  ]
}

/** CPU time per request by round. */
function costs(cells: readonly Cell[], scenario: string, variant: string): Map<number, number> {
  const found = cells.filter(
    (cell) => cell.entry === own && cell.scenario === scenario && cell.variant === variant,
  )
  return new Map(
    found.flatMap(({ status, round, metrics: { cpu } }) =>
      status === 'measured' && cpu !== undefined ? [[round, cpu] as const] : [],
    ),
  )
}
