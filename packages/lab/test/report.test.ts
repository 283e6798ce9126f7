import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseCpuList } from '../src/cores.ts'
import type { Machine } from '../src/machine.ts'
import { type Group, type Lane, type Method, type Sample, lanes, sidesOf } from '../src/pair.ts'
import { reportLines } from '../src/report.ts'
import { entries, entryOf } from '../src/roster.ts'
import { barGroups, startServers } from '../src/bars.ts'
import { scenarioOf } from '../src/scenario.ts'
import type { StartSample } from '../src/startup.ts'
import { styleFor } from '../src/style.ts'

const machine: Machine = {
  cpu: 'Some Processor',
  cores: 2,
  memoryBytes: 1,
  kernel: 'linux 6.18.0 x64',
  governor: null,
  node: 'v20.20.2',
  wrk: '4.1.0',
  commit: null,
}
const method: Method = {
  rounds: 5,
  warmup: 1,
  window: 1.5,
  connections: 100,
  depth: 10,
  cores: { server: 0, generator: 1, label: 'server on core 0, wrk on core 1' },
}

function sample(round: number, lane: Lane, server: string, change: Partial<Sample>): Sample {
  return {
    round,
    lane,
    scenario: 'json',
    server,
    cpuMicrosecondsPerRequest: 123.45 + round / 100,
    cpuSeconds: 1,
    busy: 1,
    waited: 0,
    requests: 1,
    seconds: 1,
    requestsPerSecond: 1_234_567,
    p50Microseconds: 123_450,
    p99Microseconds: 999_990,
    memoryBytes: 123e6,
    non2xx: 0,
    socketErrors: 0,
    replyBytes: 150,
    ...change,
  }
}

function report(change: Partial<Sample> = {}, colour = false): string[] {
  const sides = sidesOf(entries, scenarioOf('json'))
  return linesOf(
    lanes.map((lane) => ({ lane, sides })),
    change,
    [],
    colour,
  )
}

function linesOf(
  groups: readonly Group[],
  change: Partial<Sample> = {},
  starts: readonly StartSample[] = [],
  colour = false,
): string[] {
  const samples = groups.flatMap(({ lane, sides }) =>
    sides.flatMap(({ label, scenario }) =>
      [0, 1, 2, 3, 4].map((round) => sample(round, lane, label, { scenario: scenario.name, ...change })),
    ),
  )
  return reportLines(groups, { samples, starts }, method, machine, styleFor(colour))
}

const fresh: StartSample[] = startServers.flatMap((server) =>
  Array.from({ length: 10 }, (_, round) => ({
    round,
    server,
    startMilliseconds: server === 'native' ? 72.5 : 70,
    idleBytes: server === 'native' ? 44e6 : 45e6,
  })),
)

test('the report fits 100 columns and has no colour for a file', () => {
  const lines = report()
  for (const line of lines) assert.ok(line.length <= 100, `${line.length}: ${line}`)
  assert.ok(!lines.join('').includes('\u001b'))
  assert.ok(report({}, true).join('').includes('\u001b['))
})

test('every server has a row in both lanes', () => {
  const lines = report()
  for (const { name } of entries) {
    assert.equal(lines.filter((line) => line.startsWith(`${name} `)).length, 2, name)
  }
})

test('rows that waited are marked and explained', () => {
  const clean = report().join('\n')
  assert.ok(!clean.includes('generator-bound') && !clean.includes('disturbed'))
  const bound = report({ busy: 0.83 }).join('\n')
  assert.ok(bound.includes('*83%') && bound.includes('generator-bound'))
  const disturbed = report({ busy: 0.83, waited: 0.1 }).join('\n')
  assert.ok(disturbed.includes('~83%') && disturbed.includes('disturbed'))
  assert.ok(!disturbed.includes('generator-bound'))
})

test('latency that could not be measured is a dash', () => {
  const row = report({ p50Microseconds: null, p99Microseconds: null }).find((line) => line.startsWith('uws '))
  assert.match(row ?? '', /1,234,567 +– +– +123\.0/)
})

test('errors are named', () => {
  assert.ok(
    report({ non2xx: 2, socketErrors: 1 }).includes('! uws: 10 replies were not 2xx, 5 socket errors'),
  )
})

test('bars are judged', () => {
  const lines = report()
  assert.ok(
    lines.some((line) => /^met\s+must\s+native ≤ 1\.20 × limit\s+json, CPU per request\s+1\.000/.test(line)),
  )
  assert.ok(
    lines.some((line) => /^missed\s+must\s+native ≤ 0\.125 × fastify\s+json, pipelining 10/.test(line)),
  )
})

test('the run of the bars fits 100 columns, with a table for each group and one for fresh processes', () => {
  const lines = linesOf(barGroups([]), {}, fresh)
  for (const line of lines) assert.ok(line.length <= 100, `${line.length}: ${line}`)
  const text = lines.join('\n')
  for (const title of [
    'GET /json',
    'GET /static and /hi/Ada',
    'GET /none and /three',
    'GET /api/users/123',
  ]) {
    assert.ok(text.includes(`No pipelining: ${title}`), title)
  }
  assert.match(text, /^param +123\.47 /m)
  assert.match(text, /^native +72\.5 +72\.5–72\.5 +\+2\.5 +44\.0 +44\.0–44\.0 +−1\.0 +10$/m)
  const bars = [
    /^met +must +param ≤ static \+ 0\.25 µs +native, CPU per request +\+0\.000 µs +0\.000 to 0\.000$/m,
    /^met +goal +middleware ≤ none \+ 0\.3 µs /m,
    /^missed +must +native ≤ 0\.65 × fastify +users, CPU per request +1\.000 /m,
    /^met +goal +native ≤ node \+ 5 ms +start to first reply +\+2\.5 ms +2\.5 to 2\.5$/m,
    /^met +goal +native ≤ node \+ 0 MB +idle memory +−1\.0 MB +−1\.0 to −1\.0$/m,
  ]
  for (const bar of bars) assert.match(text, bar)
})

test('an entry named twice gets two labels', () => {
  const twice = ['node', 'node', 'limit'].map(entryOf)
  const labels = sidesOf(twice, scenarioOf('json')).map(({ label }) => label)
  assert.deepEqual(labels, ['node', 'node#2', 'limit'])
})

test('lists of cores', () => {
  assert.deepEqual(parseCpuList('0-3,8\n'), [0, 1, 2, 3, 8])
  assert.deepEqual(parseCpuList('5'), [5])
  assert.deepEqual(parseCpuList('0,2-2,64-65'), [0, 2, 64, 65])
  assert.deepEqual(parseCpuList(''), [])
})
