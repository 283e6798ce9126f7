/** Where Volant is ahead and where it is not, a line for each scenario: for documents. */
import { type Results, type Table, tables } from './analysis.ts'
import { metrics, written } from './metrics.ts'
import { type Standing, bestOther, difference, headlineOf, standing } from './standing.ts'

const own = 'native'

const verdicts: Record<Standing['verdict'], string> = {
  ahead: '**ahead**',
  behind: '**behind**',
  tie: 'level: a tie within the noise',
  undecided: 'not decided by so few rounds',
}

/** Volant's native adapter against the best of the others that run JavaScript, in Markdown. */
export function standingLines(results: Results): string[] {
  return [
    '| scenario | what | Volant | best of the others | Volant is |',
    '|:---|:---|---:|:---|:---|',
    ...tables(results).flatMap(lineOf),
  ]
}

/** None where Volant was not measured, or nobody else was. */
function lineOf(table: Table): string[] {
  const { scenario, variant, lane, rows, noise } = table
  const { headline } = scenario
  const ours = rows.find(({ label }) => label === own)
  const best = bestOther(table)
  if (ours === undefined || best === null) return []
  const [value, against] = [headlineOf(ours, headline), headlineOf(best, headline)]
  if (against === null) return []
  const title = scenario.document === null ? scenario.title : `${scenario.document.name}: ${scenario.title}`
  const name = variant === 'default' || variant === 'plain' ? title : `${title}, ${variant}`
  const labelled = lane === 'plain' || variant === lane ? name : `${name} (${lane})`
  const other = `${best.entry.title}: ${written(headline, against.median)}`
  const found = value === null ? null : standing(ours, best, headline, noise)
  if (value === null || found === null) {
    const why = ours.problem ?? 'not to be compared'
    return [`| ${labelled} | ${metrics[headline].title} | – | ${other} | ${why} |`]
  }
  const verdict =
    found.verdict === 'ahead' || found.verdict === 'behind'
      ? `${verdicts[found.verdict]}: ${difference(found.ratio.median)}`
      : verdicts[found.verdict]
  return [
    `| ${labelled} | ${metrics[headline].title} | ${written(headline, value.median)} | ${other} | ${verdict} |`,
  ]
}
