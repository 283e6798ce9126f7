/** Latency against load of open loops, and what is still answered when more is sent than can be done. */
import type { Row, Table } from '../analysis.ts'
import type { CurvePoint } from '../cell.ts'
import { median } from '../statistics.ts'
import { type Markup, html } from './html.ts'
import { type Axis, type Line, lineChart } from './lines.ts'
import { brief, fixed } from './number.ts'
import type { Palette } from './palette.ts'
import { logScale } from './scale.ts'
import { titleOf } from './title.ts'

/** Null when nothing of the table is an open loop over shares of the capacity. */
export function latencyCurves({ rows }: Table, palette: Palette): Markup | null {
  const curves = rows
    .map((row) => ({ label: row.label, title: titleOf(row.entry), points: curveOf(row) }))
    .filter(({ points }) => points.length > 0)
  if (curves.length === 0) return null
  const load: Axis = { title: 'offered requests/s (log scale)', scale: logScale, written: brief }
  const latency: Axis = { title: 'latency, ms', scale: logScale, written: brief }
  const charts = percentiles.map(([key, quantile]) =>
    lineChart(
      `${quantile}, ms (log scale); lower is better`,
      curves.map(({ points, ...line }): Line => {
        const within = points.filter((point) => point.share <= 1 && point.offered > 0 && point[key] > 0)
        const drawn = within.map((point) => ({
          x: point.offered,
          y: point[key],
          tip: tipOf(point, key, quantile),
        }))
        return { ...line, points: drawn, dots: true }
      }),
      load,
      latency,
      palette,
    ),
  )
  const answered: Axis = { title: 'right replies/s', scale: logScale, written: brief }
  const beyond =
    curves.some(({ points }) => points.some(({ share }) => share > 1)) &&
    lineChart(
      'right replies per second (log scale); higher is better',
      curves.map(({ points, ...line }): Line => {
        const within = points.filter((point) => point.offered > 0 && point.answered > 0)
        const drawn = within.map((point) => ({ x: point.offered, y: point.answered, tip: answerTip(point) }))
        return { ...line, points: drawn, dots: true }
      }),
      load,
      answered,
      palette,
    )
  return html`<p class="note">
      Open loop: requests are sent when they are due, and a latency counts from the time its request was due,
      so that a stall is paid for by everything it held back. Points are shares of each server’s own capacity;
      latency above the capacity only tells how long the test was, so it is not drawn.
    </p>
    <div class="charts">${charts}${beyond}</div>`
}

const percentiles = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['p999', 'p99.9'],
] as const

/** Medians over the rounds, by share. */
function curveOf({ cells }: Row): CurvePoint[] {
  const points = cells
    .filter(({ status }) => status === 'measured')
    .flatMap(({ series }) => series?.curve ?? [])
  const shares = [...new Set(points.map(({ share }) => share))].toSorted((a, b) => a - b)
  return shares.map((share) => {
    const same = points.filter((point) => point.share === share)
    const middle = (key: Exclude<keyof CurvePoint, 'cpu'>): number => {
      const known = same.map((point) => point[key]).filter(Number.isFinite)
      return known.length ? median(known) : Number.NaN
    }
    return {
      share,
      offered: middle('offered'),
      answered: middle('answered'),
      p50: middle('p50'),
      p99: middle('p99'),
      p999: middle('p999'),
    }
  })
}

function tipOf(point: CurvePoint, key: 'p50' | 'p99' | 'p999', title: string): string {
  return `${title} ${fixed(point[key], 2)} ms at ${fixed(point.offered, 0)}/s, ${fixed(point.share * 100, 0)} % of its capacity`
}

function answerTip({ offered, answered, share }: CurvePoint): string {
  return `${fixed(answered, 0)}/s of ${fixed(offered, 0)}/s, ${fixed(share * 100, 0)} % of its capacity`
}
