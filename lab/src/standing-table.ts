/** Where Volant is ahead and where it is not, a line for each scenario and a column for each operating point. */
import { type Results, type Table, tables } from './analysis.ts'
import { metrics, written } from './metrics.ts'
import { operatingPoints } from './operating-points.ts'
import { bestOther, difference, headlineOf, standing } from './standing.ts'

const own = 'native'
const [most] = operatingPoints.toSorted((a, b) => b - a) as [number]

/** Volant's native adapter against the best of the others that run JavaScript, in Markdown. */
export function standingLines(results: Results): string[] {
  const all = tables(results)
  const rest = all.filter(({ point }) => point === undefined || point.connections === most)
  const withPoints = all.some(({ point }) => point !== undefined && point.connections !== most)
  const counts = withPoints ? operatingPoints.filter((count) => count !== most) : []
  const titles = counts.map((count) => (count === 1 ? '1 connection' : `${count} connections`))
  const last = counts.length > 0 ? `${most} connections, or as the scenario says` : 'Volant is'
  return [
    `| ${['scenario', 'what', ...titles, last].join(' | ')} |`,
    `|${':---|'.repeat(titles.length + 3)}`,
    ...rest.flatMap((table) => {
      const verdict = verdictOf(table)
      if (verdict === null) return []
      const fewer = counts.map((count) => {
        const found = all.find((one) => isPoint(one, table, count))
        return (found && verdictOf(found)) ?? '–'
      })
      return [
        `| ${[titleOf(table), metrics[table.scenario.headline].title, ...fewer, verdict].join(' | ')} |`,
      ]
    }),
  ]
}

function isPoint({ scenario, point }: Table, table: Table, count: number): boolean {
  return (
    scenario.name === table.scenario.name && point?.of === table.point?.of && point?.connections === count
  )
}

function titleOf({ scenario, variant, lane, point }: Table): string {
  const title = scenario.document === null ? scenario.title : `${scenario.document.name}: ${scenario.title}`
  const of = point?.of ?? variant
  const name = of === 'default' || of === 'plain' ? title : `${title}, ${of}`
  return lane === 'plain' || of === lane ? name : `${name} (${lane})`
}

/** Null where Volant was not measured, or nobody else was. */
function verdictOf(table: Table): string | null {
  const { scenario, rows, noise } = table
  const { headline } = scenario
  const ours = rows.find(({ label }) => label === own)
  const best = bestOther(table, own)
  if (ours === undefined || best === null) return null
  const [value, against] = [headlineOf(ours, headline), headlineOf(best, headline)]
  if (against === null) return null
  const other = `${best.entry.title} (${written(headline, against.median)})`
  const found = value === null ? null : standing(ours, best, headline, noise)
  if (value === null || found === null) return `${ours.problem ?? 'not to be compared'}; ${other}`
  const { verdict } = found
  const words =
    verdict === 'ahead' || verdict === 'behind'
      ? `**${verdict}** ${verdict === 'ahead' ? 'of ' : ''}${other}: ${difference(found.ratio.median)}`
      : verdict === 'tie'
        ? `level with ${other}`
        : `not decided by so few rounds beside ${other}`
  return `${written(headline, value.median)}, ${words}`
}
