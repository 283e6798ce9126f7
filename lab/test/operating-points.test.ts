/** Several counts of connections, several versions of Node.js, and a run that is older than the code. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { type Results, tables } from '../src/analysis.ts'
import type { Cell, RunEntry } from '../src/cell.ts'
import { ageNote, ageOf, codeState } from '../src/code-state.ts'
import { entryNamed } from '../src/choice.ts'
import { type Entry, lackOf, onNode, readEntries } from '../src/entry.ts'
import { rewritten } from '../src/markdown-tables.ts'
import { atConnections, operatingPoints } from '../src/operating-points.ts'
import { pointsLines, pointsOf } from '../src/points-table.ts'
import { partsOf, presetOf } from '../src/presets.ts'
import { secondsOfAll } from '../src/progress.ts'
import { schedule } from '../src/schedule.ts'
import { scenarioOf } from '../src/scenario.ts'
import { standingLines } from '../src/standing-table.ts'
import { shortMethod } from './broken-entry.ts'
import { inventedRun } from './invented-run.ts'

const json = scenarioOf('ramapi-json')
const entries = readEntries()

test('plain closed loops are measured at each count of connections, other variants as they are', () => {
  assert.deepEqual(
    atConnections(json, json.variants, operatingPoints).map(({ name, measure, point }) => [
      name,
      measure.load.connections,
      point?.of,
    ]),
    [
      ['plain, 1 connection', 1, 'plain'],
      ['plain, 10 connections', 10, 'plain'],
      ['plain', 100, 'plain'],
      ['pipelined', 100, undefined],
      ['open loop', 100, undefined],
    ],
  )
  const [, users] = atConnections(scenarioOf('veloxts-latency'), scenarioOf('veloxts-latency').variants, [10])
  assert.equal(users?.name, 'users', 'at its own count a variant keeps its name')
  const sweep = scenarioOf('zapjs-sweep')
  assert.deepEqual(atConnections(sweep, sweep.variants, [1]), sweep.variants)
})

/** A run of `costs` by label, in µs at 1, 10 and 100 connections. */
function runOf(costs: Readonly<Record<string, readonly number[]>>, node = '26.0.0'): Results {
  const { run, cells } = inventedRun()
  const [cell] = cells as [Cell]
  const [template] = run.entries as [RunEntry]
  const variants = atConnections(json, json.variants.slice(0, 1), operatingPoints)
  const scenario = { ...run.scenarios[0]!, name: 'ramapi-json', headline: 'cpu' as const }
  return {
    run: {
      ...run,
      entries: Object.keys(costs).map((name) => ({
        ...template,
        name,
        title: name.replace(/@.*/, ''),
        package: name.startsWith('uws') ? 'uws' : null,
        version: name.startsWith('uws') ? '20.69.0' : '',
        runtime: `Node.js ${name.includes('@20') ? '20.0.0' : node}`,
      })),
      scenarios: [
        { ...scenario, variants: variants.map(({ name, lane, point }) => ({ name, lane, point: point! })) },
      ],
    },
    cells: Object.entries(costs).flatMap(([entry, list]) =>
      list.flatMap((cost, index) =>
        [0, 1, 2, 3, 4].map((round): Cell => ({
          ...cell,
          scenario: 'ramapi-json',
          variant: variants[index]!.name,
          lane: 'plain',
          entry,
          round,
          status: 'measured',
          metrics: { cpu: cost * (1 + round / 1000) },
        })),
      ),
    ),
  }
}

const measured = runOf({
  native: [10, 6, 5],
  'native#2': [10, 6, 5],
  uws: [8, 8, 8],
  'native@20': [20, 12, 10],
  'uws@20': [10, 10, 10],
})

test('one table has the cost and the ratio at every count', () => {
  const [points] = pointsOf(measured)
  assert.ok(points)
  assert.deepEqual(
    pointsLines(points).map(({ row, cells }) => [
      row.label,
      ...cells.map(({ ratio }) => ratio.replace('= ', '').slice(0, 4)),
    ]),
    [
      ['native', '1', '1', '1'],
      ['uws', '0.80', '1.33', '1.60'],
      ['native@20', '1', '1', '1'],
      ['uws@20', '0.50', '0.83', '1.00'],
    ].toSorted(([a], [b]) => order(a!) - order(b!)),
  )
  function order(label: string): number {
    return ['native', 'uws', 'native@20', 'uws@20'].indexOf(label)
  }
})

test('the base of a row is native on the Node.js of the row', () => {
  const rows = tables(measured).at(-1)!.rows
  const ratio = (label: string) => rows.find((row) => row.label === label)?.ratio?.median.toFixed(2)
  assert.deepEqual([ratio('uws'), ratio('uws@20'), ratio('native@20')], ['1.60', '1.00', undefined])
  // Whoever comes first, and where every name has a version.
  const versions = runOf({
    'uws@26': [1, 1, 8],
    'native@26': [1, 1, 4],
    'uws@20': [1, 1, 9],
    'native@20': [1, 1, 3],
  })
  const last = tables(versions).at(-1)!
  assert.equal(last.base, 'native@26')
  assert.equal(last.rows.find(({ label }) => label === 'uws@20')?.ratio?.median.toFixed(1), '3.0')
})

test('where Volant stands is said at every count, beside entries on the same Node.js', () => {
  const [head, , line] = standingLines(measured)
  assert.match(
    head as string,
    /\| 1 connection \| 10 connections \| 100 connections, or as the scenario says \|$/,
  )
  assert.match(line as string, /\| 10\.02 µs, \*\*behind\*\* uws \(8\.02 µs\): 25 % higher \|/)
  assert.match(line as string, /\| 5\.01 µs, \*\*ahead\*\* of uws \(8\.02 µs\): 38 % lower \|$/)
})

test('a document has the table over connections with versions, and says when its run is older than the code', () => {
  const page =
    '<!-- lab: points ramapi-json:plain -->\n<!-- lab: end -->\n<!-- lab: ramapi-json -->\n<!-- lab: end -->\n'
  const older = rewritten(page, [{ name: 'core', results: measured, age: 'older' }], 'page.md')
  assert.match(
    older,
    /\| CPU per request, µs: 1 connection \| ÷ native \| .*: 100 connections \| ÷ native \|\n/,
  )
  assert.match(older, /^\| uws 20\.69\.0 \| 8\.02 \(8\.00–8\.03\) \| 0\.80 /m)
  assert.match(older, /\| {2}\| Node\.js 26\.0\.0 \| ÷ native \| Node\.js 20\.0\.0 \| ÷ native \|/)
  const tablesIn = (text: string) => text.match(/^<sub>.*$/gm) ?? []
  for (const note of tablesIn(older))
    assert.match(note, /older than the code: measured on 2020-01-01 at commit 0123456789ab, and the engine/)
  assert.equal(tablesIn(older).length, 3)
  assert.doesNotMatch(
    rewritten(page, [{ name: 'core', results: measured, age: 'current' }], 'page.md'),
    /older/,
  )
  assert.equal(ageNote(measured.run, 'current'), null)
})

test('the state of the code is that of its sources, whatever else changes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'volant-lab-state-'))
  const put = (path: string, text: string): string => {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    return path
  }
  try {
    for (const path of ['Cargo.toml', 'Cargo.lock', 'packages/engine/src/index.ts', 'crates/wire/src/lib.rs'])
      put(path, '')
    put('packages/volant/src/app/app.ts', 'one')
    const first = codeState(folder)
    assert.match(first, /^[0-9a-f]{12}$/)
    for (const path of [
      'README.md',
      'crates/README.md',
      'crates/wire/tests/mutate.rs',
      'packages/volant/test/app.test.ts',
      'crates/gone/fuzz/corpus',
    ])
      assert.equal((put(path, 'one'), codeState(folder)), first, path)
    const seen = new Set([first])
    for (const path of [
      'Cargo.lock',
      'crates/wire/src/lib.rs',
      'packages/volant/src/app/app.ts',
      'crates/route/src/lib.rs',
    ])
      seen.add((put(path, 'two'), codeState(folder)))
    renameSync(join(folder, 'crates/wire/src/lib.rs'), join(folder, 'crates/wire/src/head.rs'))
    seen.add(codeState(folder))
    assert.equal(seen.size, 6)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a run is current when its code, and all code it went on with, is that of this tree', () => {
  const code = codeState()
  const { run } = inventedRun()
  const at = '2020-01-01T00:00:00.000Z'
  assert.equal(ageOf({ ...run, code }), 'current')
  assert.equal(ageOf({ ...run, code, resumed: [{ at, commit: null, code }] }), 'current')
  assert.equal(ageOf({ ...run, code: '0123456789ab' }), 'older')
  assert.equal(ageOf({ ...run, code, resumed: [{ at, commit: null, code: '0123456789ab' }] }), 'older')
})

test('an entry says what it needs and does not have here', () => {
  const uws = entries.find(({ name }) => name === 'uws') as Entry
  const on = (major: number) => onNode(uws, { major, path: process.execPath })
  assert.deepEqual([on(20).package, on(20).version], ['uWebSockets.js', '20.51.4'])
  assert.equal(on(26).version, '20.69.0')
  assert.equal(lackOf({ ...on(26), glibc: '2.2' }), null)
  assert.match(
    String(lackOf({ ...on(26), glibc: '99.1' })),
    /^it needs glibc 99\.1, and this is .*--newer-glibc/,
  )
  assert.match(String(lackOf(on(18))), /^it needs Node\.js 20 or 22 or 24 or 26, and this is 18/)
  const [major] = process.versions.node.split('.')
  assert.equal(entryNamed(`fastify@${major}`, entries).name, `fastify@${major}`)
})

test('the run that is published takes half an hour at most, and has every point of the first table', () => {
  const core = presetOf('core')
  // The versions of Node.js are brought by scripts/lab.mjs.
  process.env['LAB_NODES'] = `26=${process.execPath},20=${process.execPath}`
  try {
    const tasks = schedule(partsOf(core, readEntries()), core.rounds, 1)
    const seconds = secondsOfAll(tasks, {
      ...shortMethod,
      quick: false,
      warmup: core.warmup,
      window: core.window,
    })
    assert.ok(seconds < 31 * 60, `${tasks.length} cells, ${seconds / 60} min`)
    const labels = tasks
      .filter(({ round }) => round === 0)
      .map(({ scenario, variant, label }) => `${scenario.name} ${variant.name} ${label}`)
    assert.equal(new Set(labels).size, labels.length)
    const counts = tasks.flatMap(({ scenario, variant: { point } }) =>
      scenario.name === 'ramapi-json' && point?.of === 'plain' ? [point.connections] : [],
    )
    assert.deepEqual(new Set(counts), new Set(operatingPoints))
  } finally {
    delete process.env['LAB_NODES']
  }
})
