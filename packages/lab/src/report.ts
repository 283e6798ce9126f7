/** What a run prints: a table for each group, one of fresh processes, then the bars. */
import { barLines } from './bar-table.ts'
import { type Results, valuesOf } from './bars.ts'
import type { Machine } from './machine.ts'
import type { Group, Lane, Method, Sample, Side } from './pair.ts'
import type { StartSample } from './startup.ts'
import { type Estimate, median, pairedDifference, pairedRatio, summarize } from './statistics.ts'
import type { Style } from './style.ts'
import { type Column, renderTable } from './table.ts'

/** Below this share of its core the server waited for the generator … */
const saturated = 0.95
/** … unless it waited this share of the time for its core. */
const disturbed = 0.05

const laneTitles: Record<Lane, (method: Method) => string> = {
  plain: () => 'No pipelining',
  pipelined: (method) => `Pipelining ${method.depth} (not a headline figure)`,
}

export function reportLines(
  groups: readonly Group[],
  results: Results,
  method: Method,
  machine: Machine,
  style: Style,
): string[] {
  const lines = [
    `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node ${machine.node}`,
    `${method.cores.label}; ${method.connections} connections, closed loop`,
    `medians of ${method.rounds} interleaved round${method.rounds > 1 ? 's' : ''} of ${method.window} s, with 95 % intervals`,
  ]
  for (const group of groups) {
    const paths = new Set(group.sides.map(({ scenario }) => scenario.exchange.path))
    const title = `${laneTitles[group.lane](method)}: GET ${[...paths].join(' and ')}`
    lines.push('', style.bold(title), ...groupLines(group, results.samples))
  }
  if (results.starts.length > 0) {
    lines.push('', style.bold('Fresh processes, no load'), ...startLines(results.starts))
  }
  return [...lines, ...barLines(results, method, style)]
}

/** Start to first reply, and memory after a second without requests. */
export function startLines(starts: readonly StartSample[]): string[] {
  const servers = [...new Set(starts.map(({ server }) => server))]
  const base = servers[0] as string
  const columns: Column[] = [
    { title: 'server', align: 'left' },
    { title: 'start ms', align: 'right' },
    { title: '95 %', align: 'right' },
    { title: `− ${base}`, align: 'right' },
    { title: 'idle MB', align: 'right' },
    { title: '95 %', align: 'right' },
    { title: `− ${base}`, align: 'right' },
    { title: 'processes', align: 'right' },
  ]
  const rows = servers.map((server) => {
    const cells = (['start', 'memory'] as const).flatMap((quantity) => {
      const [own, other] = [server, base].map((name) =>
        valuesOf({ samples: [], starts }, quantity, 'plain', 'json', name),
      ) as [number[], number[]]
      const value = summarize(own)
      const more = server === base ? '' : signed(pairedDifference(own, other).median, 1)
      return [value.median.toFixed(1), `${value.low.toFixed(1)}–${value.high.toFixed(1)}`, more]
    })
    return [server, ...cells, String(starts.filter((one) => one.server === server).length)]
  })
  return renderTable(columns, rows)
}

/** With its sign, a real minus. */
function signed(value: number, digits: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}`
}

function groupLines({ lane, sides }: Group, samples: readonly Sample[]): string[] {
  // Scenarios of one server are told apart by their names, servers of one scenario by theirs.
  const mixed = new Set(sides.map(({ scenario }) => scenario)).size > 1
  const nameOf = ({ label, scenario }: Side): string => (mixed ? scenario.name : label)
  const of = ({ label, scenario }: Side): Sample[] =>
    samples
      .filter((one) => one.lane === lane && one.scenario === scenario.name && one.server === label)
      .toSorted((a, b) => a.round - b.round)
  const cpu = (side: Side): number[] => of(side).map((one) => one.cpuMicrosecondsPerRequest)
  const base = sides[0] as Side
  const columns: Column[] = [
    { title: 'server', align: 'left' },
    { title: 'CPU µs/req', align: 'right' },
    { title: '95 %', align: 'right' },
    { title: `/ ${nameOf(base)}`, align: 'right' },
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
  const rows = sides.map((side) => {
    const own = of(side)
    const middle = (value: (sample: Sample) => number): number => median(own.map(value))
    const cost = summarize(cpu(side))
    const ratio = side === base ? null : pairedRatio(cpu(side), cpu(base))
    const busy = middle((sample) => sample.busy)
    const waited = middle((sample) => sample.waited) >= disturbed
    const idle = busy < saturated && !waited
    shared ||= waited
    bound ||= idle
    notes.push(...errorNotes(nameOf(side), own))
    return [
      nameOf(side),
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

function span({ low, high }: Estimate): string {
  return `${low.toFixed(2)}–${high.toFixed(2)}`
}
