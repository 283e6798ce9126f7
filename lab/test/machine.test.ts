/** Tests what a run records of the programs that it used. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEntries } from '../src/entry.ts'
import { describeMachine, isInstalled } from '../src/machine.ts'
import { partsOf, presetOf } from '../src/presets.ts'
import { describeScenarios } from '../src/runner.ts'
import { styleFor } from '../src/style.ts'
import { resultLines } from '../src/terminal-tables.ts'
import { generatorsOf } from '../src/versions.ts'
import { inventedRun } from './invented-run.ts'

const { run } = inventedRun()

test('versions of the programs that are installed are recorded', () => {
  const machine = describeMachine()
  assert.equal(machine.wrk !== null, isInstalled('wrk'))
  // nghttpd may be in a folder where only the lab looks.
  for (const program of ['h2load', 'nghttpd', 'openssl'] as const) {
    const version = machine[program]
    if (isInstalled(program) || version !== null) assert.match(String(version), /^\d+\.\d+/, program)
  }
})

test('h2load is named where it made the load', () => {
  const scenarios = describeScenarios(partsOf(presetOf('tls'), readEntries()))
  const machine = { ...run.machine, h2load: '1.52.0' }
  assert.equal(generatorsOf({ ...run, machine, scenarios }), 'h2load 1.52.0')
  assert.equal(generatorsOf({ ...run, scenarios }), 'h2load')
  const both = { ...run, machine, scenarios: [...run.scenarios, ...scenarios] }
  assert.equal(generatorsOf(both), 'load, and h2load 1.52.0 for tls-json, http2-json')
  const [first] = scenarios as [(typeof scenarios)[0]]
  const mixed = { ...first, variants: [...first.variants, { name: 'other', lane: 'plain' as const }] }
  assert.equal(
    generatorsOf({ ...run, machine, scenarios: [mixed] }),
    'load, and h2load 1.52.0 for tls-json:plain, tls-json:tls',
  )
  assert.ok(
    resultLines({ run: both, cells: [] }, styleFor(false)).some((line) =>
      line.includes('; generator load, and h2load'),
    ),
  )
})

test('an older run, which says nothing of it, is read as before', () => {
  assert.equal(generatorsOf(run), 'load')
  assert.equal(generatorsOf({ ...run, settings: { ...run.settings, generator: 'wrk' } }), 'wrk')
  const machine = { ...run.machine, wrk: '4.1.0' }
  assert.equal(
    generatorsOf({ ...run, machine, settings: { ...run.settings, generator: 'wrk' } }),
    'wrk 4.1.0',
  )
})
