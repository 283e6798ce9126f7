/** What a cell finds out while it is measured: servers that were right in the check, and are not under load. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { assignment, entryRunning, measured, undisturbed, shortMethod, skip } from './broken-entry.ts'

test('an honest server is measured, and every figure is there', { skip }, async () => {
  const { status, reason, metrics, commands, histogram } = await undisturbed(
    assignment(entryRunning('honest'), 'ramapi-json'),
  )
  assert.equal(status, 'measured', String(reason))
  assert.ok(Number(metrics.requests) > 100, JSON.stringify(metrics))
  for (const name of ['cpu', 'rate', 'p50', 'p95', 'p99', 'p999', 'transfer', 'rss', 'busy'] as const)
    assert.ok(Number(metrics[name]) > 0, name)
  assert.deepEqual([metrics.errors, metrics.non2xx], [0, 0])
  // The first command starts the server, the second is the load.
  assert.match(commands[0] as string, /PROGRAM=hello .*server\.mjs$/)
  assert.match(commands[1] as string, /^echo '\{.*\}' \| load --spec -$/s)
  const counted = (histogram ?? []).reduce((sum, [, count]) => sum + count, 0)
  assert.equal(counted, metrics.requests)
})

// Right for as long as each connection is greeted: a busy machine may not ask many times more.
const disqualified: [string, string, string, Record<string, string>, RegExp][] = [
  ['429s', 'limited', 'ramapi-json', { ALLOWED: '100' }, /replies with another status.*429/],
  ['a fixed id', 'fixed-body', 'routes:10', { HONEST: '100' }, /asked for|another (body|length)/],
  ['a cache before the handler', 'cached', 'ramapi-json', {}, /^its handlers ran 1 times for \d+ replies/],
  [
    'a lying memory endpoint',
    'lying-memory',
    'veloxts-memory',
    {},
    /^its memory endpoint says [\d.]+ MB and the kernel/,
  ],
]
for (const [what, server, asked, environment, reason] of disqualified) {
  test(`${what}: disqualified, without figures`, { skip }, async () => {
    const finding = await undisturbed(assignment(entryRunning(server, environment), asked))
    assert.equal(finding.status, 'disqualified', String(finding.reason))
    assert.match(String(finding.reason), reason)
    assert.deepEqual(finding.metrics, {})
  })
}

for (const [when, ms] of [
  ['in the warm-up', 50],
  ['in the window', 500],
] as const) {
  test(`a server that stalls for ever ${when} stopped answering`, { skip }, async () => {
    // Each of the 100 connections is answered once before the warm-up, which takes long on a busy machine.
    const entry = entryRunning('stalled', { AFTER: String(ms), GREETED: '100' })
    // The generator gives up after 5 s without a reply.
    const finding = await measured(entry, 'ramapi-json', { window: 20 })
    assert.equal(finding.status, 'failed', String(finding.reason))
    assert.match(String(finding.reason), /^it stopped answering: /)
    assert.deepEqual(finding.metrics, {})
  })
}

test('a server that dies in the window says how', { skip }, async () => {
  // Without a warm-up all requests are those of the window. One of the 100 connections sends a second one.
  const entry = entryRunning('dies-under-load', { AT: '101' })
  const finding = await measured(entry, 'ramapi-json', { warmup: 0, window: 3 })
  assert.equal(finding.status, 'failed')
  assert.match(String(finding.reason), /exit 3|stopped answering/)
})

test(
  'a server that waits has a generator-bound row, or a disturbed one on a busy machine',
  { skip },
  async () => {
    const { status, metrics, flags } = await undisturbed(assignment(entryRunning('slow'), 'ramapi-json'))
    assert.ok(status === 'measured' || status === 'discarded', status)
    assert.ok(Number(metrics.busy) < 95, String(metrics.busy))
    assert.ok(flags.includes('generator-bound') || flags.includes('disturbed'), flags.join())
  },
)

test(
  'other work on its core: disturbed',
  { skip: skip || (shortMethod.cores.server === null && 'no core to pin to') },
  async () => {
    const core = String(shortMethod.cores.server)
    const other = spawn('taskset', ['--cpu-list', core, process.execPath, '-e', 'for (;;);'], {
      stdio: 'ignore',
    })
    try {
      const { status, metrics, flags } = await undisturbed(
        assignment(entryRunning('laborious'), 'ramapi-json'),
      )
      // Little's law may discard what was disturbed so much.
      assert.ok(status === 'measured' || status === 'discarded', status)
      assert.ok(Number(metrics.waited) >= 5, String(metrics.waited))
      assert.ok(flags.includes('disturbed'), flags.join())
      // What the other work took is not what the generator left: that is less only where it was short of time as well.
      const left = Number(metrics.busy) + Number(metrics.waited) < 95
      assert.equal(flags.includes('generator-bound'), left, JSON.stringify(metrics))
    } finally {
      other.kill('SIGKILL')
    }
  },
)
