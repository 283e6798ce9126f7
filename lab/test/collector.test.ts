import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routedSpans, startCollector } from '../src/collector.ts'
import { conformance } from '../src/conformance.ts'
import type { Variant } from '../src/scenario.ts'
import { assignment, entryRunning, skip, undisturbed } from './broken-entry.ts'

/** A field of protobuf: a message or a text. */
function field(number: number, ...contents: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(contents.map((one) => Buffer.from(one)))
  const length: number[] = []
  for (let rest = content.length; ; rest >>>= 7) {
    if (rest < 128) {
      length.push(rest)
      break
    }
    length.push((rest & 127) | 128)
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), content])
}

const time = Buffer.from([(7 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8])
const kind = Buffer.from([6 << 3, 2])
const flags = Buffer.from([(16 << 3) | 5, 1, 1, 0, 0, 0])
const span = (route: string) => field(2, field(5, 'GET'), kind, time, field(9, field(1, route)), flags)
const spans = [span('http.route'), span('db.statement'), span('http.route')]

test('spans with a route are counted, whatever else is in a request', () => {
  const scope = field(2, field(1, field(1, 'lab')), ...spans)
  assert.equal(routedSpans(field(1, field(1, 'x'.repeat(300)), scope, scope)), 4)
  assert.equal(routedSpans(Buffer.concat([field(1, scope), field(1, scope)])), 4)
  for (const bytes of ['', '\n', 'http.route', '\xff\xff\xff'])
    assert.equal(routedSpans(Buffer.from(bytes)), 0)
})

test('what is sent arrives', async () => {
  const collector = await startCollector()
  try {
    const body = field(1, field(2, ...spans))
    const { status } = await fetch(collector.url, { method: 'POST', body: new Uint8Array(body) })
    assert.deepEqual([status, collector.spans()], [200, 2])
  } finally {
    collector.close()
  }
})

test('a server that exports nothing does not conform where it must', { skip }, async () => {
  const { entry, scenario, variant } = assignment(entryRunning('honest'), 'ramapi-json')
  const fault = (changes: Partial<Variant>) =>
    conformance(entry, scenario, { ...variant, ...changes }, null, 0)
  assert.equal(await fault({ spans: 'each' }), '0 spans of 200 requests arrived')
  assert.equal(await fault({ spans: 'none' }), null)
})

test('a cell is measured where nothing is exported and nothing must be', { skip }, async () => {
  const asked = assignment(entryRunning('honest'), 'ramapi-json')
  const finding = await undisturbed({ ...asked, variant: { ...asked.variant, spans: 'none' } })
  assert.ok(finding.metrics.requests, JSON.stringify(finding))
})
