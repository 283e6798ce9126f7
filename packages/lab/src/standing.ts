/** Where Volant is ahead and where it is not, a line for each scenario. */
import { type Results, type Row, type Table, tables } from './analysis.ts'
import { metrics } from './metrics.ts'

const own = 'native'

/** A Markdown table: each scenario, Volant's native adapter against the best of the others. */
export function standingLines(results: Results): string[] {
  const lines = tables(results).flatMap((table) => {
    const line = standing(table)
    return line === null ? [] : [line]
  })
  return [
    '| scenario | lane | Volant | best of the others | Volant is |',
    '|:---|:---|---:|:---|:---|',
    ...lines,
  ]
}

/** Null where Volant was not measured, or nobody else was. */
function standing(table: Table): string | null {
  const { scenario, variant, lane, rows } = table
  const { headline } = scenario
  const ours = rows.find(({ label }) => label === own)
  const others = rows.filter(
    ({ label, entry, estimates }) =>
      entry.javascript && estimates[headline] !== undefined && !volant.has(label),
  )
  const value = ours?.estimates[headline]
  const best = others[0]
  const against = best?.estimates[headline]
  if (ours === undefined || value === undefined || best === undefined || against === undefined) return null
  const { unit, digits } = metrics[headline]
  const written = (median: number): string =>
    `${median.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })}${unit ? ` ${unit}` : ''}`
  const name = variant === 'default' || variant === lane ? scenario.name : `${scenario.name}, ${variant}`
  return `| ${name} | ${lane} | ${written(value.median)} | ${best.entry.title}, ${written(against.median)} | ${verdict(table, ours, best)} |`
}

/** Entries of our own: they are no rivals of each other. */
const volant = new Set(['native', 'node-http', 'uwebsockets'])

function verdict({ scenario, base, noise }: Table, ours: Row, best: Row): string {
  const { headline } = scenario
  const ahead = Number(ours.estimates[headline]?.median)
  const other = Number(best.estimates[headline]?.median)
  const tie = base === own ? best.tie : Math.abs(ahead / other - 1) <= (noise ?? 0)
  if (tie) return 'level (a tie)'
  const higher = metrics[headline].direction === 'higher'
  const better = higher ? ahead > other : ahead < other
  const share = (higher ? ahead / other : other / ahead) - 1
  const percent = Math.abs(better ? share : 1 / (share + 1) - 1) * 100
  return better ? `**ahead** by ${percent.toFixed(0)} %` : `**behind** by ${percent.toFixed(0)} %`
}
