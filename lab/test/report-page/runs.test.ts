import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Results } from '../../src/analysis.ts'
import { reportPage } from '../../src/report/page.ts'
import { inventedRun } from '../invented-run.ts'
import { emptyRun, unbalanced } from './page.ts'

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
