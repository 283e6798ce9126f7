/** Resident memory over the time of a soak. */
import type { Table } from '../analysis.ts'
import { type Markup, html } from './html.ts'
import { type Line, lineChart } from './lines.ts'
import { brief, fixed } from './number.ts'
import type { Palette } from './palette.ts'
import { linearScale } from './scale.ts'
import { titleOf } from './title.ts'

/** More would not be seen at the width of a chart. */
const mostPoints = 120
/** Told in minutes from here on, s. */
const longSoak = 180

/** Null when nothing of the table was read over time. */
export function memoryLines({ rows }: Table, palette: Palette): Markup | null {
  const long = rows.some(({ cells }) =>
    cells.some(({ series }) => (series?.memory?.at(-1)?.[0] ?? 0) >= longSoak),
  )
  const lines = rows.map(({ label, entry, cells }): Line => {
    // A soak is measured once; of several the first is drawn and all are in the raw data.
    const series = cells.find(({ status, series }) => status === 'measured' && series?.memory)?.series
    const points = thinned(series?.memory ?? []).map(([seconds, megabytes]) => ({
      x: long ? seconds / 60 : seconds,
      y: megabytes,
      tip: `${fixed(megabytes, 1)} MB after ${fixed(seconds, 0)} s`,
    }))
    return { label, title: titleOf(entry), points, dots: false }
  })
  const chart = lineChart(
    'resident memory, MB; a flat line is better',
    lines,
    {
      title: long ? 'minutes under load' : 'seconds under load',
      scale: (values) => linearScale(values, 5),
      written: brief,
    },
    { title: 'MB', scale: (values) => linearScale(values, 5), written: brief },
    palette,
  )
  return chart && html`<div class="charts">${chart}</div>`
}

/** First and last reading, and every nth between. */
function thinned(readings: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const step = Math.max(1, Math.ceil(readings.length / mostPoints))
  return readings.filter((_, index) => index % step === 0 || index === readings.length - 1)
}
