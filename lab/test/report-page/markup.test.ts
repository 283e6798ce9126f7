import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reportPage } from '../../src/report/page.ts'
import { inventedRun } from '../invented-run.ts'
import { pageOf, emptyRun, unbalanced } from './page.ts'

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
