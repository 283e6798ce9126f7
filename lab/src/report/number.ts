/** Numbers as a reader sees them: a dash for what is none, a real minus, steps that suit their size. */
import { type MetricName, metrics } from '../metrics.ts'
import type { Estimate } from '../statistics.ts'

/** Without its unit, which stands in the head of the column. */
export function figure(name: MetricName, value: number | undefined): string {
  return value === undefined ? '–' : fixed(value, metrics[name].digits)
}

/** With its unit. */
export function quantity(name: MetricName, value: number | undefined): string {
  const text = figure(name, value)
  const { unit } = metrics[name]
  if (text === '–' || !unit) return text
  // No-break, so that they stay together.
  return `${text}\u00a0${unit}`
}

/** `2.28–2.36`. */
export function span({ low, high }: Estimate, digits: number): string {
  const [from, to] = [fixed(low, digits), fixed(high, digits)]
  return from === to ? from : `${from}–${to}`
}

export function fixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return '–'
  const text = Math.abs(value).toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text
}

/** For the ticks of an axis: `2k`, `1.5M`, `0.05`. */
export function brief(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const size = Math.abs(value)
  if (size >= 1e6) return `${trimmed(value / 1e6)}M`
  if (size >= 1e3) return `${trimmed(value / 1e3)}k`
  return trimmed(value)
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3))).replace('-', '−')
}
