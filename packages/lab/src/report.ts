/** What a run prints: one table a lane, then the bars. */
import { type Verdict, barRounds, judge, ratioOf } from './bars.ts'
import type { Machine } from './machine.ts'
import type { Lane, Method, Sample, Side } from './pair.ts'
import { type Estimate, median, summarize } from './statistics.ts'
import { type Column, renderTable } from './table.ts'

/** Below this share of its core the server waited for the generator … */
const saturated = 0.95
/** … unless it waited this share of the time for its core. */
const disturbed = 0.05

const laneTitles: Record<Lane, (method: Method) => string> = {
  plain: () => 'No pipelining',
  pipelined: (method) => `Pipelining ${method.depth} (not a headline figure)`,
}

/** Escape codes only where a person reads them. */
export interface Style {
  readonly bold: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

const plain = (text: string): string => text
const escape = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`

export function styleFor(colour: boolean): Style {
  return colour
    ? { bold: escape(1), good: escape(32), bad: escape(31) }
    : { bold: plain, good: plain, bad: plain }
}

export function reportLines(
  sides: readonly Side[],
  samples: readonly Sample[],
  method: Method,
  machine: Machine,
  style: Style,
): string[] {
  const lines = [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}`,
    `${method.cores.label}; GET /json, ${method.connections} connections, closed loop`,
    `medians of ${method.rounds} interleaved round${method.rounds > 1 ? 's' : ''} of ${method.window} s, with 95 % intervals`,
  ]
  for (const lane of method.lanes) {
    lines.push('', style.bold(laneTitles[lane](method)), ...laneLines(sides, samples, lane))
  }
  return [...lines, ...barLines(sides, samples, method, style)]
}

function laneLines(sides: readonly Side[], samples: readonly Sample[], lane: Lane): string[] {
  const base = (sides[0] as Side).label
  const columns: Column[] = [
    { title: 'server', align: 'left' },
    { title: 'CPU µs/req', align: 'right' },
    { title: '95 %', align: 'right' },
    { title: `/ ${base}`, align: 'right' },
    { title: '95 %', align: 'right' },
    { title: 'req/s', align: 'right' },
    { title: 'p50 ms', align: 'right' },
    { title: 'p99 ms', align: 'right' },
    { title: 'RSS MB', align: 'right' },
    { title: 'busy', align: 'right' },
  ]
  const notes: string[] = []
  let bound = false
  let shared = false
  const rows = sides.map(({ label }) => {
    const own = samples.filter((sample) => sample.lane === lane && sample.server === label)
    const middle = (value: (sample: Sample) => number): number => median(own.map(value))
    const cost = summarize(own.map((sample) => sample.cpuMicrosecondsPerRequest))
    const ratio = label === base ? null : ratioOf(samples, lane, label, base)
    const busy = middle((sample) => sample.busy)
    const waited = middle((sample) => sample.waited) >= disturbed
    const idle = busy < saturated && !waited
    shared ||= waited
    bound ||= idle
    notes.push(...errorNotes(label, own))
    return [
      label,
      cost.median.toFixed(2),
      span(cost),
      ratio ? ratio.median.toFixed(2) : '1',
      ratio ? span(ratio) : '',
      Math.round(middle((sample) => sample.requestsPerSecond)).toLocaleString('en-US'),
      milliseconds(own.map((sample) => sample.p50Microseconds)),
      milliseconds(own.map((sample) => sample.p99Microseconds)),
      (middle((sample) => sample.memoryBytes) / 1e6).toFixed(1),
      `${waited ? '~' : idle ? '*' : ''}${Math.round(busy * 100)}%`,
    ]
  })
  if (shared) notes.unshift('~ disturbed: other work took its core for 5 % of the time or more')
  if (bound) notes.unshift('* generator-bound: its core was under 95 % busy, so req/s is a lower bound')
  return [...renderTable(columns, rows), ...notes]
}

/** The median of times in µs; a dash where they could not be measured. */
function milliseconds(times: readonly (number | null)[]): string {
  const known = times.filter((time) => time !== null)
  return known.length ? (median(known) / 1e3).toFixed(2) : '–'
}

function errorNotes(label: string, samples: readonly Sample[]): string[] {
  const sum = (value: (sample: Sample) => number): number =>
    samples.reduce((total, sample) => total + value(sample), 0)
  const non2xx = sum((sample) => sample.non2xx)
  const socketErrors = sum((sample) => sample.socketErrors)
  if (!non2xx && !socketErrors) return []
  return [`! ${label}: ${non2xx} replies were not 2xx, ${socketErrors} socket errors`]
}

function barLines(
  sides: readonly Side[],
  samples: readonly Sample[],
  method: Method,
  style: Style,
): string[] {
  const verdicts = judge(samples)
  if (!verdicts.length) {
    const promised = sides.some(({ label }) => label === 'native' || label === 'node-http')
    return promised && method.rounds < barRounds
      ? ['', `Bars are not judged with fewer than ${barRounds} rounds`]
      : []
  }
  const rows = verdicts.map((verdict) => barCells(verdict, method))
  const columns: Column[] = [
    { title: 'bar', align: 'left' },
    { title: '', align: 'left' },
    { title: 'CPU per request', align: 'left' },
    { title: 'lane', align: 'left' },
    { title: 'measured', align: 'right' },
    { title: '95 %', align: 'right' },
  ]
  const [title, ...lines] = renderTable(columns, rows)
  const coloured = lines.map((line, index) => {
    const word = verdicts[index]?.met ? 'met' : 'missed'
    return line.replace(word, word === 'met' ? style.good(word) : style.bad(word))
  })
  return ['', style.bold(title as string), ...coloured]
}

function barCells({ bar, measured, met }: Verdict, method: Method): string[] {
  return [
    met ? 'met' : 'missed',
    bar.kind,
    `${bar.server} ≤ ${bar.ratio.toFixed(bar.ratio < 0.2 ? 3 : 2)} × ${bar.base}`,
    bar.lane === 'plain' ? 'no pipelining' : `pipelining ${method.depth}`,
    measured.median.toFixed(3),
    `${measured.low.toFixed(3)}–${measured.high.toFixed(3)}`,
  ]
}

function span({ low, high }: Estimate): string {
  return `${low.toFixed(2)}–${high.toFixed(2)}`
}
