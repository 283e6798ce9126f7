/** A run that never was: every value in it is invented, round numbers and a little noise. */
import type { Results } from '../src/analysis.ts'
import type { Cell, Lane, Run, RunEntry, RunScenario } from '../src/cell.ts'
import type { MetricName } from '../src/metrics.ts'

const machine = {
  cpu: 'Invented CPU',
  cores: 2,
  memoryBytes: 8e9,
  kernel: 'linux 0.0 x64',
  governor: null,
  node: 'v20.0.0',
  wrk: null,
  commit: '0123456789abcdef',
}

function entry(name: string, more: Partial<RunEntry> = {}): RunEntry {
  return {
    name,
    title: `The ${name} entry`,
    about: 'invented',
    package: name,
    version: '1.0.0',
    adapter: 'none',
    runtime: 'Node.js 20.0.0',
    javascript: true,
    ...more,
  }
}

function scenario(
  name: string,
  document: RunScenario['document'],
  variants: readonly (readonly [string, Lane])[],
  headline: MetricName = 'cpu',
): RunScenario {
  return {
    name,
    title: `Title of ${name}`,
    about: `What ${name} asks.`,
    document,
    kind: name,
    variants: variants.map(([variant, lane]) => ({ name: variant, lane })),
    headline,
  }
}

const entries = [
  entry('native', { title: 'Volant, native', package: 'volant' }),
  entry('node-http', { title: 'Volant, node-http', package: 'volant' }),
  entry('uwebsockets', { title: 'Volant, uwebsockets', package: 'volant' }),
  entry('limit', { package: null, javascript: false, runtime: 'native code' }),
  entry('fast'),
  entry('slow'),
  entry('wrong'),
  entry('absent', { error: 'needs Node.js 22 or later' }),
]

const scenarios = [
  scenario('hello', { name: 'ramapi', command: 'wrk -t12 -c100 -d30s http://localhost:3000/json' }, [
    ['default', 'plain'],
    ['deep', 'pipelined'],
  ]),
  scenario('sweep', { name: 'zapjs', command: 'wrk -c $N http://localhost:3000/' }, [
    ['text-10', 'plain'],
    ['text-100', 'plain'],
    ['text-1000', 'plain'],
  ]),
  scenario('soak', { name: 'nessen', command: 'autocannon -d 600' }, [['default', 'plain']], 'slope'),
  scenario('start', { name: 'veloxts', command: 'node start.js' }, [['default', 'no load']], 'start'),
  scenario('load-curve', null, [['default', 'open loop']], 'capacity'),
]

/** CPU µs of a request, by entry. */
const costs: Record<string, number> = {
  native: 5,
  'native#2': 5.01,
  'node-http': 20,
  uwebsockets: 7,
  limit: 2,
  fast: 4,
  slow: 40,
}

export function inventedRun(rounds = 5): Results {
  const run: Run = {
    format: 1,
    name: 'invented',
    startedAt: '2020-01-01T00:00:00.000Z',
    command: ['run', '--name', 'invented'],
    machine,
    settings: {
      rounds,
      warmup: null,
      window: null,
      generator: 'load',
      seed: 1,
      cores: 'server on core 0, generator on core 1',
      quick: false,
    },
    entries,
    scenarios,
    code: '0123456789ab',
    criterion: [
      ...['1', '1460', '64'].flatMap((size) =>
        ['httparse', 'wire'].map((crate) => ({
          name: `split/${crate}/${size}`,
          nanoseconds: 100,
          low: 90,
          high: 110,
        })),
      ),
      { name: 'deep/matchit', nanoseconds: 30, low: 29, high: 31 },
      { name: 'deep/volant', nanoseconds: 31, low: 30, high: 32 },
      { name: 'route/static', nanoseconds: 20, low: 19, high: 21 },
    ],
  }
  const cells = scenarios.flatMap(({ name, variants }) =>
    variants.flatMap(({ name: variant, lane }) =>
      Array.from({ length: rounds }, (_, round) =>
        Object.keys(costs)
          .map((server): Cell => measured(name, variant, lane, server, round))
          .concat(disqualified(name, variant, lane, round)),
      ).flat(),
    ),
  )
  return { run, cells }
}

function measured(scenarioName: string, variant: string, lane: Lane, server: string, round: number): Cell {
  const cpu = (costs[server] as number) * (1 + round / 1000)
  const cell: Cell = {
    scenario: scenarioName,
    variant,
    lane,
    entry: server,
    round,
    status: 'measured',
    metrics: {
      cpu,
      rate: 1e6 / cpu,
      p50: cpu / 10,
      p99: cpu / 2,
      errors: 0,
      non2xx: 0,
      rss: 50 + cpu,
      mostRss: 50 + cpu,
      busy: 99,
    },
    flags: server === 'limit' ? ['generator-bound'] : [],
    commands: [`start ${server} --port ${40_000 + round}`, `load http://127.0.0.1:${41_000 + round}/`],
    at: '2020-01-01T00:00:01.000Z',
    took: 1,
  }
  if (scenarioName === 'start') return { ...cell, metrics: { start: cpu * 10, idleRss: 40 }, flags: [] }
  if (scenarioName === 'soak') {
    const memory = Array.from({ length: 60 }, (_, index): [number, number] => [index * 10, 50 + index / cpu])
    return { ...cell, metrics: { ...cell.metrics, slope: 1 / cpu }, series: { memory } }
  }
  if (scenarioName === 'load-curve') {
    const capacity = 1e6 / cpu
    const curve = [0.1, 0.5, 0.9, 2].map((share) => ({
      share,
      offered: capacity * share,
      answered: capacity * Math.min(share, 0.95),
      p50: 0.1 / Math.max(0.05, 1 - share),
      p99: 0.4 / Math.max(0.05, 1 - share),
      p999: 1 / Math.max(0.05, 1 - share),
    }))
    return { ...cell, metrics: { capacity, goodput: capacity * 0.95 }, series: { curve } }
  }
  return cell
}

function disqualified(scenarioName: string, variant: string, lane: Lane, round: number): Cell {
  return {
    scenario: scenarioName,
    variant,
    lane,
    entry: 'wrong',
    round,
    status: 'disqualified',
    reason: 'GET / gave 404 where 200 is right',
    metrics: {},
    flags: [],
    commands: [],
    at: '2020-01-01T00:00:02.000Z',
    took: 1,
  }
}
