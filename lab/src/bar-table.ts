/** The table of the bars: what was promised, what was measured, met or missed. */
import {
  type Bar,
  type Quantity,
  type Side,
  type Unjudged,
  type Verdict,
  barRounds,
  bars,
  judge,
} from './bars.ts'
import type { Cell } from './cell.ts'
import { scenarioOf } from './scenario.ts'
import type { Style } from './style.ts'
import { type Column, renderTable } from './table.ts'

const units: Record<Quantity, string> = {
  cpu: 'µs',
  messageCpu: 'µs',
  deliveryCpu: 'µs',
  socketMemory: 'bytes',
  start: 'ms',
  idleRss: 'MB',
}
const digits: Partial<Record<Quantity, number>> = { cpu: 3, messageCpu: 3, deliveryCpu: 3, socketMemory: 0 }
const topics: Record<Quantity, string> = {
  cpu: 'CPU per request',
  messageCpu: 'CPU per message',
  deliveryCpu: 'CPU per delivery',
  socketMemory: 'memory a socket',
  start: 'start to first reply',
  idleRss: 'idle memory',
}

const columns: readonly Column[] = [
  { title: 'bar', align: 'left' },
  { title: '', align: 'left' },
  { title: 'at most', align: 'left' },
  { title: 'what', align: 'left' },
  { title: 'measured', align: 'right' },
  { title: '95 %', align: 'right' },
]

/** The share of its core that the server used, and the share that its base used. The terminal shows it, too. */
const busyColumn: Column = { title: 'core busy, %', align: 'right' }

/** Empty when the cells have nothing to do with a bar. */
export function barLines(cells: readonly Cell[], rounds: number, style: Style): string[] {
  const verdicts = judge(cells)
  if (!verdicts.length) {
    const promised = bars.some((bar) =>
      cells.some(
        ({ entry, scenario, variant }) =>
          entry === bar.server && scenario === bar.scenario && variant === bar.variant,
      ),
    )
    return promised && rounds < barRounds
      ? ['', `Bars are not judged with fewer than ${barRounds} rounds`]
      : []
  }
  const rows = verdicts.map((verdict) => [...cellsOf(verdict), busyCell(verdict)])
  const [title, ...lines] = renderTable([...columns, busyColumn], rows)
  const coloured = lines.map((line, index) =>
    verdicts[index]?.met
      ? line.replace('met', style.good('met'))
      : line.replace('missed', style.bad('missed')),
  )
  return ['', style.bold(title as string), ...coloured, ...flagNotes(verdicts)]
}

function busyCell({ bar, own, base }: Verdict): string {
  const share = ({ busy, flags }: Side): string => {
    const mark = flags.includes('disturbed') ? '~' : flags.includes('generator-bound') ? '*' : ''
    return busy === null ? '' : `${mark}${busy.toFixed(0)}`
  }
  return bar.as === 'value' || base.busy === null ? share(own) : `${share(own)} / ${share(base)}`
}

function flagNotes(verdicts: readonly Verdict[]): string[] {
  const has = (flag: Side['flags'][number]): boolean =>
    verdicts.some((verdict) => [verdict.own, verdict.base].some(({ flags }) => flags.includes(flag)))
  return [
    ...(has('generator-bound')
      ? [
          '* generator-bound in most rounds: its CPU time per request is rather too high, which favours the bar where it is the base',
        ]
      : []),
    ...(has('disturbed')
      ? ['~ disturbed in most rounds: other work took its core for 5 % of the time or more']
      : []),
  ]
}

/** A line for each promise that could not be judged, with the reason. */
export function unjudgedLines(found: readonly Unjudged[], style: Style): string[] {
  return found.map(
    ({ bar, reason }) => `${style.bad('not judged')}  ${bar.kind}  ${barText(bar).join(', ')}: ${reason}`,
  )
}

/** As Markdown, a line for each bar that the cells judge. */
export function barMarkdown(cells: readonly Cell[]): string[] {
  const titles = columns.map(({ title }) => title)
  return [
    `| ${titles.join(' | ')} |`,
    `|${columns.map(({ align }) => (align === 'left' ? ':---|' : '---:|')).join('')}`,
    ...judge(cells).map((verdict) => {
      const [met, ...rest] = cellsOf(verdict)
      return `| ${[met === 'met' ? 'met' : '**missed**', ...rest].join(' | ')} |`
    }),
  ]
}

function cellsOf({ bar, measured, met }: Verdict): string[] {
  const { low, median, high } = measured
  const number = (value: number): string =>
    value.toFixed(bar.as === 'ratio' ? 3 : (digits[bar.quantity] ?? 1)).replace('-', '−')
  return [
    met ? 'met' : 'missed',
    bar.kind,
    ...barText(bar),
    bar.as === 'ratio'
      ? number(median)
      : `${median < 0 || bar.as === 'value' ? '' : '+'}${number(median)} ${units[bar.quantity]}`,
    bar.as === 'ratio' ? `${number(low)}–${number(high)}` : `${number(low)} to ${number(high)}`,
  ]
}

/** Gives the promise of a bar, and the work for which it holds. */
export function barText(bar: Bar): [promise: string, work: string] {
  return [promise(bar), work(bar)]
}

function promise({ as, quantity, server, base, variant, baseVariant, over, most }: Bar): string {
  const [own, other] = server === base ? [variant, baseVariant] : [server, base]
  if (over !== undefined) return `${own} − ${over} ≤ ${most.toFixed(2)} × (${other} − ${over})`
  if (as === 'value') return `${server} ≤ ${most.toLocaleString('en-US')} ${units[quantity]}`
  if (as === 'ratio') return `${own} ≤ ${most.toFixed(most < 0.2 ? 3 : 2)} × ${other}`
  return `${own} ≤ ${other} + ${most} ${units[quantity]}`
}

function work({ scenario, variant, server, base, quantity }: Bar): string {
  if (quantity === 'start' || quantity === 'idleRss') return topics[quantity]
  if (quantity !== 'cpu') return `${scenario}${isUsual(variant) ? '' : `:${variant}`}, ${topics[quantity]}`
  if (server === base) return `${server}, ${scenario}, ${topics.cpu}`
  const measure = scenarioOf(scenario).variants.find(({ name }) => name === variant)?.measure
  if (variant === 'pipelined') return `${scenario}, pipelining ${measure?.load.pipelining}`
  const point = /\d+ connections?$|^open loop$/.exec(variant)?.[0]
  if (point !== undefined) return `${scenario}, ${point}, ${topics.cpu}`
  return `${scenario}${isUsual(variant) ? '' : `:${variant}`}, ${topics.cpu}`
}

/** Returns true for a variant that the text does not name. */
function isUsual(variant: string): boolean {
  return variant === 'plain' || variant === 'default'
}
