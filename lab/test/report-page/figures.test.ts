import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tables } from '../../src/analysis.ts'
import { reportPage } from '../../src/report/page.ts'
import { sweepsOf } from '../../src/report/sweep.ts'
import { inventedRun } from '../invented-run.ts'
import { pageOf, emptyRun } from './page.ts'

test('curves, the sweep, memory over time and starts are drawn', () => {
  const page = pageOf()
  assert.ok(page.includes('p99.9, ms (log scale); lower is better'))
  assert.ok(page.includes('right replies per second'))
  assert.ok(page.includes('resident memory, MB'))
  assert.ok(page.includes('text: CPU per request, µs; lower is better'))
  assert.match(page, /<s style="left:[\d.]+%">/, 'dots of processes')
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
