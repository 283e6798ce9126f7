import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addedLines } from '../src/added-table.ts'
import type { Results } from '../src/analysis.ts'
import type { Cell } from '../src/cell.ts'
import type { Committed } from '../src/committed-runs.ts'
import { markdownLines, rewritten } from '../src/markdown-tables.ts'
import { standingLines } from '../src/standing-table.ts'
import { inventedRun } from './invented-run.ts'

const results = inventedRun()
const runs = (found: Results = results): Committed[] => [{ name: 'core', results: found, age: 'older' }]
const page =
  'Before\n<!-- lab: hello:default -->\nold\n<!-- lab: end -->\nbetween\n<!-- lab: standing --><!-- no -->\n'

test('a block becomes its table, the rest of the text stays', () => {
  const text = rewritten(page, runs(), 'page.md')
  assert.match(
    text,
    /^Before\n<!-- lab: hello:default -->\n\n\| {2}\| CPU per request, µs \(95 %\) \| ÷ native \| /,
  )
  assert.match(text, /\n\n<!-- lab: end -->\nbetween\n<!-- lab: standing --><!-- no -->\n$/)
  assert.doesNotMatch(text, /\nold\n/)
  assert.equal(rewritten(text, runs(), 'page.md'), text, 'a second time changes nothing')
  const changed: Results = {
    ...results,
    cells: results.cells.map((cell) => ({ ...cell, metrics: { ...cell.metrics, cpu: 99 } })),
  }
  assert.notEqual(rewritten(text, runs(changed), 'page.md'), text, 'another run has another table')
})

test('a block that names nothing is a fault of the page', () => {
  const wrong = '<!-- lab: nonesuch -->\n<!-- lab: end -->'
  assert.throws(() => rewritten(wrong, runs(), 'page.md'), {
    message: 'page.md: the run has nothing for <!-- lab: nonesuch -->',
    exitCode: 2,
  })
})

test('a scenario is taken from the first run that has it, and the machine from the run that is named', () => {
  const later: Results = {
    run: { ...results.run, machine: { ...results.run.machine, cpu: 'Another CPU' } },
    cells: results.cells.map((cell) => ({ ...cell, scenario: cell.scenario.replace('hello', 'later') })),
  }
  const scenarios = later.run.scenarios.map((one) => ({ ...one, name: one.name.replace('hello', 'later') }))
  const both: Committed[] = [
    ...runs(),
    { name: 'batteries', results: { ...later, run: { ...later.run, scenarios } }, age: 'current' },
  ]
  const block = (name: string): string =>
    rewritten(`<!-- lab: ${name} -->\n<!-- lab: end -->`, both, 'page.md')
  assert.match(block('hello:default'), /older than the code/)
  assert.match(block('later:default'), /\| CPU per request, µs/)
  assert.doesNotMatch(block('later:default'), /older than the code/)
  assert.match(block('machine batteries'), /: Another CPU, /)
  assert.doesNotMatch(block('machine'), /Another CPU/)
})

test('what is still to be measured says by which command', () => {
  const both: Committed[] = [...runs(), { name: 'batteries', results: null, age: 'current' }]
  for (const name of ['upload', 'standing batteries', 'machine batteries'])
    assert.equal(
      rewritten(`<!-- lab: ${name} -->\n<!-- lab: end -->`, both, 'page.md'),
      `<!-- lab: ${name} -->\n\nNot measured yet: \`npm run lab -- run --name batteries --preset batteries\`.\n\n<!-- lab: end -->`,
    )
})

test('what is promised is said to be met or missed', () => {
  const [some] = results.cells as [Cell]
  const cells = Object.entries({ none: 5, crypto: 15, hs256: 16, read: 9 }).flatMap(([variant, cpu]) =>
    [0, 1, 2, 3, 4].map((round): Cell => {
      const scenario = variant === 'read' ? 'sealed-session' : 'jwt'
      return { ...some, scenario, variant, entry: 'native', round, metrics: { cpu: cpu + round } }
    }),
  )
  const bare = cells
    .filter(({ variant }) => variant === 'none')
    .map((cell) => ({ ...cell, scenario: 'sealed-session' }))
  const run: Committed = {
    name: 'services',
    results: { ...results, cells: [...cells, ...bare] },
    age: 'current',
  }
  const text = rewritten('<!-- lab: bars services -->\n<!-- lab: end -->', [run], 'page.md')
  assert.deepEqual(text.split('\n').slice(2, 6), [
    '| bar |  | at most | what | measured | 95 % |',
    '|:---|:---|:---|:---|---:|---:|',
    '| **missed** | must | read ≤ none + 2.5 µs | native, sealed-session, CPU per request | +4.000 µs | 4.000 to 4.000 |',
    '| met | must | hs256 − none ≤ 1.20 × (crypto − none) | native, jwt, CPU per request | 1.100 | 1.100–1.100 |',
  ])
})

test('what a variant adds to the one without the work is paired by round', () => {
  const [some] = results.cells as [Cell]
  const [scenario] = results.run.scenarios as [Results['run']['scenarios'][0]]
  const cells = Object.entries({ none: [5, 9, 5], work: [6, 9.5, 7], lone: [1] }).flatMap(
    ([variant, costs]) =>
      costs.map((cpu, round): Cell => ({ ...some, variant, entry: 'native', round, metrics: { cpu } })),
  )
  const rivals = cells.map((cell) => ({ ...cell, entry: 'fastify' }))
  const variants = ['work', 'none', 'lone', 'unmeasured'].map((name) => ({ name, lane: 'plain' as const }))
  const run = {
    ...results.run,
    scenarios: [{ ...scenario, name: some.scenario, title: 'A title', variants }],
  }
  assert.deepEqual(addedLines({ run, cells: [...rivals, ...cells] }).slice(2), [
    '| A title | work | 5.00 | 1.00 | 0.50 to 2.00 |',
    '| A title | lone | 5.00 | −4.00 | −4.00 to −4.00 |',
  ])
  const disqualified = cells.map((cell): Cell => ({ ...cell, status: 'disqualified' }))
  assert.equal(addedLines({ run, cells: disqualified }).length, 2)
})

test('every row of a table has as many cells as its head, those without figures too', () => {
  const lines = markdownLines(results)
  let width = 0
  let rows = 0
  for (const line of lines) {
    if (!line.startsWith('|')) width = 0
    else {
      const cells = line.split('|').length
      if (width === 0) width = cells
      assert.equal(cells, width, line)
      rows += 1
    }
  }
  assert.ok(rows > 30)
  const wrong = lines.find((line) => line.startsWith('| The wrong entry'))
  assert.match(
    wrong as string,
    /^\| The wrong entry 1\.0\.0 \| disqualified: GET \/ gave 404 where 200 is right \|/,
  )
  assert.ok(lines.some((line) => line.startsWith('| The limit entry (no JavaScript) |')))
  assert.deepEqual(markdownLines(results, ['nonesuch']), [])
})

test('where Volant stands is said of the best of the others, never of the limit or its own adapters', () => {
  const line = (costs: Record<string, number>): string => {
    const cells = results.cells.flatMap((cell) => {
      const cpu = costs[cell.entry]
      return cpu !== undefined && cell.scenario === 'hello' && cell.variant === 'default'
        ? [{ ...cell, metrics: { cpu } }]
        : []
    })
    const lines = standingLines({ ...results, cells })
    assert.equal(lines.length, 3, lines.join('\n'))
    return lines[2] as string
  }
  const common = { limit: 1, uwebsockets: 2, 'node-http': 3 }
  const behind = line({ ...common, native: 5, 'native#2': 5.01, fast: 4, slow: 40 })
  assert.match(behind, /\| 5\.00 µs, \*\*behind\*\* The fast entry \(4\.00 µs\): 25 % higher \|$/)
  const ahead = line({ ...common, native: 5, 'native#2': 5.01, slow: 10 })
  assert.match(ahead, /\| 5\.00 µs, \*\*ahead\*\* of The slow entry \(10\.00 µs\): 50 % lower \|$/)
  const level = line({ ...common, native: 5, 'native#2': 5.5, fast: 4.8 })
  assert.match(level, /\| 5\.00 µs, level with The fast entry \(4\.80 µs\) \|$/)
})

test('a block without its end is a fault of the page', () => {
  const wrong = '<!-- lab: hello:default -->\n<!-- lab: end -->\n<!-- lab: standing -->\n'
  assert.throws(() => rewritten(wrong, runs(), 'page.md'), /page\.md: 2 blocks begin .* and 1 end/)
})

test('where Volant was disqualified the standing says so', () => {
  const cells = results.cells.map((cell) =>
    cell.entry === 'native' && cell.scenario === 'hello'
      ? { ...cell, status: 'disqualified' as const, reason: 'another body', metrics: {} }
      : cell,
  )
  const lines = standingLines({ ...results, cells })
  assert.ok(
    lines.some((line) => /another body/.test(line)),
    lines.join('\n'),
  )
})
