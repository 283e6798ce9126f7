import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tables } from '../../src/analysis.ts'
import { reportPage } from '../../src/report/page.ts'
import { difference, standing } from '../../src/standing.ts'
import { inventedRun } from '../invented-run.ts'
import { pageOf } from './page.ts'

test('every entry is in every table, with its reason when it was not measured', () => {
  const results = inventedRun()
  const page = pageOf()
  const metricTables = page.split('<table class="sortable">').slice(1)
  assert.equal(metricTables.length, tables(results).length)
  for (const text of metricTables) {
    const table = text.slice(0, text.indexOf('</table>'))
    for (const { name } of results.run.entries) assert.ok(table.includes(`data-entry="${name}"`), name)
    assert.ok(table.includes('GET / gave 404 where 200 is right'))
    assert.ok(table.includes('needs Node.js 22 or later'))
  }
})

test('lanes are told apart and the document’s own command is shown', () => {
  const page = pageOf()
  assert.ok(page.includes('<h4>keep-alive, no pipelining</h4>'))
  assert.ok(page.includes('deep: pipelined, not a headline figure'))
  assert.ok(page.includes('wrk -t12 -c100 -d30s http://localhost:3000/json'))
})

test('entries are called by their titles, and by their names in the table of entries and in commands alone', () => {
  const page = pageOf()
  const shown = page
    .replace(/<section id="entries">[\s\S]*?<\/section>/, '')
    .replace(/<pre>[\s\S]*?<\/pre>/g, '')
  for (const name of ['native', 'node-http', 'uwebsockets', 'fast', 'slow', 'absent'])
    assert.doesNotMatch(shown, new RegExp(`>\\s*${name}\\s*<|÷ ${name}|measuring ${name}`), name)
  for (const [where, text] of [
    ['a table', '> Volant, native </th>'],
    ['a bar', '<div class="who">Volant, native</div>'],
    ['a line', '>Volant, uwebsockets</text>'],
    ['the base of ratios', '÷ Volant, native</th>'],
    ['the noise floor', 'found by measuring Volant, native against itself'],
    ['the summary', '<th scope="col">Volant, node-http</th>'],
    ['entries', '<th scope="row">Volant, native</th><td>native</td>'],
  ] as const)
    assert.ok(page.includes(text), where)
})

test('an entry on several versions of Node.js says on which', () => {
  const { run, cells } = inventedRun(2)
  const versioned = (name: string): string => (name === 'fast' ? 'fast@22' : name)
  const page = reportPage({
    run: { ...run, entries: run.entries.map((entry) => ({ ...entry, name: versioned(entry.name) })) },
    cells: cells.map((cell) => ({ ...cell, entry: versioned(cell.entry) })),
  })
  assert.ok(page.includes('<div class="who">The fast entry, Node.js 22</div>'))
})

test('the summary says where Volant is behind, and compares nobody with entries without JavaScript', () => {
  const page = pageOf()
  const summary = page.slice(page.indexOf('<section id="summary">'), page.indexOf('<section id="d0">'))
  assert.match(summary, /<b>Volant, native<\/b>, in \d+ tables: [^.<]*behind the best in \d+\./)
  assert.ok(summary.includes('Where it is behind'))
  assert.ok(summary.includes('RamAPI: Title of hello, deep, pipelined</a> (The fast entry, 25 % higher)'))
  assert.ok(summary.includes('<td>The fast entry<small>4.01\u00a0µs</small></td>'))
  assert.ok(!summary.includes('<td>The limit'))
  assert.ok(summary.includes('25 % higher'))
})

test('a difference within the noise floor is a tie, one beyond it is not', () => {
  const [table] = tables(inventedRun())
  assert.ok(table)
  const row = (label: string) => {
    const found = table.rows.find((candidate) => candidate.label === label)
    assert.ok(found)
    return found
  }
  assert.equal(standing(row('native'), row('fast'), 'cpu', 0.3)?.verdict, 'tie')
  assert.equal(standing(row('native'), row('fast'), 'cpu', 0.2)?.verdict, 'behind')
  assert.equal(standing(row('native'), row('slow'), 'cpu', null)?.verdict, 'ahead')
  assert.equal(standing(row('native'), row('slow'), 'rate', null)?.verdict, 'ahead')
  assert.equal(standing(row('native'), row('slow'), 'busy', null), null, 'not a metric to be judged')
  assert.equal(standing(row('native'), row('wrong'), 'cpu', null), null, 'nothing to compare with')
})

test('differences in words', () => {
  assert.equal(difference(0.68), '32 % lower')
  assert.equal(difference(1.041), '4.1 % higher')
  assert.equal(difference(5), '5.0 times')
  assert.equal(difference(Number.NaN), '–')
})
