import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Results, tables } from '../src/analysis.ts'
import { reportPage } from '../src/report/page.ts'
import { difference, standing } from '../src/standing.ts'
import { sweepsOf } from '../src/report/sweep.ts'
import { inventedRun } from './invented-run.ts'

/** A page of a whole run takes a second; those that are not of a changed run are made once. */
const pages = new Map<number, string>()
function pageOf(rounds = 5): string {
  const page = pages.get(rounds) ?? reportPage(inventedRun(rounds))
  pages.set(rounds, page)
  return page
}

test('every tag is closed, in order', () => {
  for (const page of [pageOf(), pageOf(1), reportPage(emptyRun())]) assert.equal(unbalanced(page), null)
})

test('ids are unique and every link within the page leads to one', () => {
  const page = pageOf()
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map((match) => match[1] as string)
  assert.equal(new Set(ids).size, ids.length)
  const links = [...page.matchAll(/href="([^"]*)"/g)].map((match) => match[1] as string)
  assert.ok(links.length > 10)
  for (const link of links) assert.ok(link.startsWith('#') && ids.includes(link.slice(1)), link)
})

test('nothing is loaded from elsewhere', () => {
  const page = pageOf()
  assert.doesNotMatch(page, /<(?:link|img|iframe|object|embed|script [^>]*src)/)
  assert.doesNotMatch(page, /url\(|@import|fetch\(|XMLHttpRequest|import\(/)
})

test('text from results cannot become markup', () => {
  const evil = `"><script>alert(1)</script><b onclick='x'>&\u0000`
  const { run, cells } = inventedRun(2)
  const page = reportPage({
    run: {
      ...run,
      name: evil,
      command: [evil],
      machine: { ...run.machine, cpu: evil, kernel: evil, commit: evil, node: evil },
      settings: { ...run.settings, cores: evil },
      entries: run.entries.map((entry) => ({
        ...entry,
        title: evil,
        about: evil,
        version: evil,
        runtime: evil,
        ...(entry.error ? { error: evil } : {}),
      })),
      scenarios: run.scenarios.map((scenario) => ({
        ...scenario,
        title: evil,
        about: evil,
        document: scenario.document && { name: evil, command: evil },
      })),
      criterion: [{ name: evil, nanoseconds: 1, low: 1, high: 1 }],
    },
    cells: cells.map((cell) => ({
      ...cell,
      at: evil,
      commands: [evil],
      ...(cell.reason ? { reason: evil } : {}),
    })),
  })
  assert.equal(page.match(/<script/g)?.length, 1, 'the script of the page alone')
  assert.doesNotMatch(page, /<b onclick/)
  assert.ok(page.includes('&quot;&gt;&lt;script&gt;'))
  assert.ok(!page.includes('\u0000'))
  assert.equal(unbalanced(page), null)
})

test('a name of an entry cannot become markup', () => {
  const { run, cells } = inventedRun(2)
  const evil = '<i>"'
  const rename = (name: string): string => (name === 'fast' ? evil : name)
  const page = reportPage({
    run: { ...run, entries: run.entries.map((entry) => ({ ...entry, name: rename(entry.name) })) },
    cells: cells.map((cell) => ({ ...cell, entry: rename(cell.entry) })),
  })
  assert.doesNotMatch(page, /<i>"/)
  assert.ok(page.includes('data-entry="&lt;i&gt;&quot;"'))
})

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

test('curves, the sweep, memory over time and starts are drawn', () => {
  const page = pageOf()
  assert.ok(page.includes('p99.9, ms (log scale); lower is better'))
  assert.ok(page.includes('right replies per second'))
  assert.ok(page.includes('resident memory, MB'))
  assert.ok(page.includes('text: CPU per request, µs; lower is better'))
  assert.match(page, /<s style="left:[\d.]+%">/, 'dots of processes')
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

test('colours and marks of bars are explained with the bars’ own marks', () => {
  const page = pageOf()
  const legend = page.slice(page.indexOf('<section id="legend">'), page.indexOf('<section id="d0">'))
  for (const mark of [
    '<li class="ours">',
    '<li class="other">',
    '<li class="limit">',
    '<u style',
    '<s style',
  ])
    assert.ok(legend.includes(mark) && page.replace(legend, '').includes(mark.slice(0, -1)), mark)
})

test('of the parser and the router only what is ours has our colour, and sizes are in order', () => {
  const page = pageOf()
  const section = page.slice(page.indexOf('<section id="criterion">'), page.indexOf('<section id="entries">'))
  const bars = (group: string): string[] => {
    const from = section.indexOf(`<h3>${group}</h3>`)
    const figure = section.slice(from, section.indexOf('</figure>', from))
    return [
      ...figure.matchAll(
        /<li class="(\w+)"[^>]*> *<div class="who">([^<]*?)(?: <small>([^<]*)<\/small>)?<\/div>/g,
      ),
    ].map(([, kind, title, note]) => [kind, title, note].filter(Boolean).join(' '))
  }
  assert.deepEqual(bars('deep'), ['ours Volant', 'other matchit'])
  assert.deepEqual(bars('split'), [
    'ours 1 Volant',
    'other 1 httparse',
    'ours 64 Volant',
    'other 64 httparse',
    'ours 1460 Volant',
    'other 1460 httparse',
  ])
  assert.deepEqual(bars('route'), ['ours static'])
  assert.equal(
    section.match(/<figcaption>time, ns; lower is better<\/figcaption>/g)?.length,
    3,
    'no title twice',
  )
})

test('when it was measured and of which commits', () => {
  const { run, cells } = inventedRun(1)
  const factsOf = (results: Results): string => reportPage(results).split('<dl class="facts">')[1] ?? ''
  assert.ok(factsOf({ run, cells: [] }).includes('<dd>2020-01-01 00:00:00 UTC</dd>'))
  assert.ok(factsOf({ run, cells }).includes('<dd>2020-01-01 00:00:00 to 00:00:02 UTC</dd>'))
  const last = { ...cells[0]!, at: '2020-01-02T03:04:05.678Z' }
  const resumed = [
    { at: '2020-01-01T00:00:01.500Z', commit: run.machine.commit, code: run.code },
    { at: '2020-01-02T03:04:00.000Z', commit: 'fedcba9876543210', code: run.code },
  ]
  const facts = factsOf({ run: { ...run, resumed }, cells: [last, ...cells] })
  assert.ok(facts.includes('<dd>2020-01-01 00:00:00 to 2020-01-02 03:04:05 UTC</dd>'))
  assert.ok(facts.includes('<dd>0123456789ab, then fedcba987654 from 2020-01-02 03:04:00 UTC</dd>'))
})

test('the head names the runtime of the servers, and the lab’s own Node.js apart from it', () => {
  const { run } = inventedRun(1)
  const head = (page: string): string => page.split('<dl class="facts">')[1]?.split('</dl>')[0] ?? ''
  const facts = head(reportPage({ run: { ...run, machine: { ...run.machine, node: 'v22.0.0' } }, cells: [] }))
  assert.match(facts, /<dt>Servers<\/dt>\s*<dd>Node\.js 20\.0\.0<\/dd>/)
  assert.match(facts, /<dt>The lab<\/dt>\s*<dd>Node\.js 22\.0\.0<\/dd>/)
})

test('variants that are numbers alone make one sweep', () => {
  const { run, cells } = inventedRun(2)
  const bare = (name: string): string => name.replace('text-', '')
  const changed = run.scenarios.map((scenario) => ({
    ...scenario,
    variants: scenario.variants.map((variant) => ({ ...variant, name: bare(variant.name) })),
  }))
  const all = tables({
    run: { ...run, scenarios: changed },
    cells: cells.map((cell) => ({ ...cell, variant: bare(cell.variant) })),
  })
  const [sweep, ...more] = sweepsOf(all.filter(({ scenario }) => scenario.name === 'sweep'))
  assert.equal(more.length, 0)
  assert.equal(sweep?.prefix, '')
  assert.deepEqual(
    sweep?.points.map(({ at }) => at),
    [10, 100, 1000],
  )
})

test('latency above the capacity is not drawn', () => {
  const page = pageOf()
  const [latency] = page.split('<figcaption>p99, ms').slice(1) as [string]
  assert.ok(latency.slice(0, latency.indexOf('</figure>')).includes('90 % of its capacity'))
  assert.ok(!latency.slice(0, latency.indexOf('</figure>')).includes('200 % of its capacity'))
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

test('one round has neither intervals nor verdicts', () => {
  const { run, cells } = inventedRun(1)
  const { criterion: _, ...rest } = run
  const page = reportPage({ run: rest, cells })
  assert.doesNotMatch(page, /<u style=/)
  assert.doesNotMatch(page, /<em class="(?:ahead|behind)">/)
  assert.ok(page.includes('One round: no intervals, and no verdicts.'))
})

test('a run without cells says so', () => {
  const page = reportPage(emptyRun())
  assert.ok(page.includes('Nothing was measured in this run.'))
  const { run } = inventedRun()
  const interrupted = reportPage({ run, cells: [] })
  assert.ok(interrupted.includes('Nothing was measured in this run.'))
  assert.equal(unbalanced(interrupted), null)
})

test('a value that is no number is never printed', () => {
  const { run, cells } = inventedRun(3)
  const broken = cells.map((cell) => ({
    ...cell,
    metrics: { ...cell.metrics, p99: Number.NaN, p999: Number.POSITIVE_INFINITY },
    series: {
      curve: [{ share: 0.5, offered: Number.NaN, answered: 1, p50: 0, p99: Number.NaN, p999: -1 }],
      memory: [[0, Number.NaN] as const, [1, Number.POSITIVE_INFINITY] as const],
    },
  }))
  for (const text of [reportPage({ run, cells: broken }), pageOf(), reportPage(emptyRun())]) {
    const shown = text.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '')
    assert.doesNotMatch(shown, /NaN|Infinity|undefined|\bnull\b|\[object/)
  }
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

function emptyRun(): Results {
  const { run } = inventedRun()
  const { criterion: _, ...rest } = run
  return { run: { ...rest, entries: [], scenarios: [] }, cells: [] }
}

/** What is wrong with the nesting; null when nothing is. */
function unbalanced(page: string): string | null {
  const open: string[] = []
  const text = page.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '').replace(/^<!doctype html>/, '')
  for (const [tag, slash, name, closed] of text.matchAll(/<(\/?)([a-zA-Z][\w-]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (closed || name === 'meta') continue
    if (!slash) open.push(name as string)
    else if (open.pop() !== name) return `${tag} where ${open.at(-1)} is open`
  }
  const stray = /<(?![/a-zA-Z])|&(?!(?:[a-z]+|#\d+);)/.exec(text)
  if (stray) return text.slice(stray.index, stray.index + 40)
  return open.length > 0 ? `open at the end: ${open.join(' ')}` : null
}
