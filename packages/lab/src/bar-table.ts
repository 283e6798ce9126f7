/** The table of the bars: what was promised, what was measured, met or missed. */
import { type Bar, type Quantity, type Results, type Verdict, barRounds, bars, judge } from './bars.ts'
import type { Method } from './pair.ts'
import type { Style } from './style.ts'
import { type Column, renderTable } from './table.ts'

const units: Record<Quantity, string> = { cpu: 'µs', start: 'ms', memory: 'MB' }
const topics: Record<Quantity, string> = {
  cpu: 'CPU per request',
  start: 'start to first reply',
  memory: 'idle memory',
}

const columns: readonly Column[] = [
  { title: 'bar', align: 'left' },
  { title: '', align: 'left' },
  { title: 'at most', align: 'left' },
  { title: 'what', align: 'left' },
  { title: 'measured', align: 'right' },
  { title: '95 %', align: 'right' },
]

/** Empty when the run has nothing to do with a bar. */
export function barLines(results: Results, method: Method, style: Style): string[] {
  const verdicts = judge(results)
  if (!verdicts.length) {
    const promised = bars.some((bar) =>
      results.samples.some(({ server, scenario }) => server === bar.server && scenario === bar.scenario),
    )
    return promised && method.rounds < barRounds
      ? ['', `Bars are not judged with fewer than ${barRounds} rounds`]
      : []
  }
  const [title, ...lines] = renderTable(
    columns,
    verdicts.map((verdict) => cells(verdict, method)),
  )
  const coloured = lines.map((line, index) =>
    verdicts[index]?.met
      ? line.replace('met', style.good('met'))
      : line.replace('missed', style.bad('missed')),
  )
  return ['', style.bold(title as string), ...coloured]
}

function cells({ bar, measured, met }: Verdict, method: Method): string[] {
  const { low, median, high } = measured
  const number = (value: number): string =>
    bar.as === 'ratio' ? value.toFixed(3) : value.toFixed(bar.quantity === 'cpu' ? 3 : 1).replace('-', '−')
  return [
    met ? 'met' : 'missed',
    bar.kind,
    promise(bar),
    bar.quantity === 'cpu' ? work(bar, method) : topics[bar.quantity],
    bar.as === 'ratio' ? number(median) : `${median < 0 ? '' : '+'}${number(median)} ${units[bar.quantity]}`,
    bar.as === 'ratio' ? `${number(low)}–${number(high)}` : `${number(low)} to ${number(high)}`,
  ]
}

function promise({ as, quantity, server, base, scenario, baseScenario, most }: Bar): string {
  if (as === 'ratio') return `${server} ≤ ${most.toFixed(most < 0.2 ? 3 : 2)} × ${base}`
  const [own, other] = server === base ? [scenario, baseScenario] : [server, base]
  return `${own} ≤ ${other} + ${most} ${units[quantity]}`
}

function work({ scenario, server, base, lane }: Bar, method: Method): string {
  const who = server === base ? `${server}, ` : `${scenario}, `
  return who + (lane === 'plain' ? topics.cpu : `pipelining ${method.depth}`)
}
