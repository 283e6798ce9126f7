/** What goes wrong while a run is under way: what was finished is kept, and the line says what to do. */
import assert from 'node:assert/strict'
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Cell } from '../src/cell.ts'
import { loadPath } from '../src/folders.ts'
import { skip } from './broken-entry.ts'
import { faultsIn, laboratory } from './laboratory.ts'

const lab = laboratory({
  honest: ['honest'],
  'never-ready': ['never-ready'],
  'dies-at-start': ['dies-at-start'],
  'dies-under-load': ['dies-under-load'],
})
after(() => lab.close())

/** A busy machine stops a server for up to 2 s: in a shorter window nothing may be answered. */
const short = ['--rounds', '1', '--warmup', '0.2', '--window', '2.5', '--seed', '1']
const json = ['run', ...short, '--scenarios', 'ramapi-json:plain']

/** It waits for 10 s, beside the other tests. */
const never = skip ? null : lab.run([...json, '--entries', 'never-ready', '--name', 'never'])

test('servers that die at start or under load: the others are kept', { skip }, async () => {
  const entries = 'honest,dies-at-start,dies-under-load'
  const outcome = await lab.run([...json, '--entries', entries, '--name', 'dying'])
  assert.equal(outcome.code, 2, outcome.errors)
  const faults = faultsIn(outcome).toSorted()
  assert.equal(faults.length, 2, outcome.errors)
  assert.match(
    faults[0] as string,
    /^lab: dies-at-start failed in 1 cell: .*ended before it was ready \(1\): Error: no luck; npm run lab -- doctor dies-at-start looks closer$/,
  )
  assert.match(
    faults[1] as string,
    /^lab: dies-under-load failed in 1 cell: .*(exit 3|stopped answering).*; npm run lab -- doctor dies-under-load/,
  )
  const cells = lab.cells('dying')
  assert.ok(cells.some(({ entry, status }) => entry === 'honest' && status !== 'failed'))
  assert.equal(cells.filter(({ status }) => status === 'failed').length, 2)
  // The table has them too, with why they have no figures.
  const table = await lab.run(['table', 'dying'])
  assert.equal(table.code, 0)
  assert.match(table.output, /^! dies-at-start failed: .*no luck$/m)

  // Mended, they are measured by --resume, and nothing says that they failed.
  for (const name of ['dies-at-start', 'dies-under-load'])
    copyFileSync(
      join(lab.folder, 'entries/honest/entry.json'),
      join(lab.folder, 'entries', name, 'entry.json'),
    )
  const resumed = await lab.run(['run', '--resume', 'dying'])
  assert.equal(resumed.code, 0, resumed.errors)
  assert.doesNotMatch(resumed.output, /failed/)
  assert.equal(lab.cells('dying').length, cells.length)
})

test('a port in use ends the run, by --port and by BENCH_PORT', { skip }, async () => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => squatter.once('listening', resolve))
  try {
    const port = String((squatter.address() as AddressInfo).port)
    const both = await Promise.all([
      lab.run([...json, '--entries', 'honest', '--name', 'port', '--port', port]),
      lab.run([...json, '--entries', 'honest', '--name', 'bench-port'], { BENCH_PORT: port }),
    ])
    for (const [index, outcome] of both.entries()) {
      assert.equal(outcome.code, 2, outcome.errors)
      const name = ['port', 'bench-port'][index] as string
      assert.deepEqual(faultsIn(outcome), [
        `lab: port ${port} is in use: stop what listens there, or choose another with --port (finished cells are kept: npm run lab -- run --resume ${name})`,
      ])
      assert.deepEqual(lab.cells(name), [])
    }
  } finally {
    squatter.close()
  }
})

test(
  'a generator that dies ends the run; what was finished is kept, and --resume goes on',
  { skip },
  async () => {
    const target = join(lab.folder, 'target')
    mkdirSync(join(target, 'release'), { recursive: true })
    const load = join(target, 'release/load')
    const uses = join(target, 'uses')
    // The check and the first cell of it are served, then it dies.
    writeFileSync(
      load,
      `#!/bin/sh\necho use >> ${uses}\n[ $(wc -l < ${uses}) -lt 3 ] || { echo 'out of luck' >&2; exit 7; }\nexec ${target}/real "$@"\n`,
    )
    chmodSync(load, 0o755)
    copyFileSync(loadPath, join(target, 'real'))
    const [before, name] = await dying()
    const resumed = await lab.run(['run', '--resume', name])
    assert.equal(resumed.code, 0, resumed.errors)
    assert.match(resumed.errors, /^2 cells, 1 of them done before; about \d+ s$/m)
    const all = lab.cells(name)
    assert.equal(all.length, 2)
    assert.deepEqual(all.slice(0, 1), before)

    /** A busy machine can fail the first cell, which is then not kept: that is another story, and it is tried again. */
    async function dying(attempt = 1): Promise<[Cell[], string]> {
      const run = `generator-${attempt}`
      writeFileSync(uses, '')
      const two = 'ramapi-json:plain,ramapi-json:pipelined'
      const args = ['run', ...short, '--scenarios', two, '--entries', 'honest', '--name', run]
      const outcome = await lab.run(args, { CARGO_TARGET_DIR: target })
      assert.equal(outcome.code, 2, outcome.errors)
      const [said, ...more] = faultsIn(outcome)
      assert.deepEqual(more, [])
      assert.match(
        String(said),
        /^lab: the load generator ended with 7 and no result: out of luck; .*cargo build.* \(finished cells are kept: npm run lab -- run --resume generator-\d\)$/,
      )
      assert.deepEqual(lab.leftovers(), [])
      const cells = lab.cells(run)
      assert.equal(cells.length, 1)
      if (cells[0]?.status !== 'failed') return [cells, run]
      assert.ok(attempt < 3, String(cells[0].reason))
      return dying(attempt + 1)
    }
  },
)

test('a name that is taken is not written over', { skip }, async () => {
  const before = lab.cells('dying')
  const outcome = await lab.run([...json, '--entries', 'honest', '--name', 'dying'])
  assert.equal(outcome.code, 2)
  assert.match(
    outcome.errors,
    /^lab: .*dying has a run already: go on with it \(--resume dying\) or choose another --name\n$/,
  )
  assert.deepEqual(lab.cells('dying'), before)
})

test('a server that never is ready has failed, and nothing is left running', { skip }, async () => {
  const outcome = await never
  assert.equal(outcome?.code, 2)
  assert.deepEqual(faultsIn(outcome), [
    'lab: never-ready failed in 1 cell: never-ready was not ready within 10 s; npm run lab -- doctor never-ready looks closer',
  ])
  const table = await lab.run(['table', 'never'])
  assert.match(table.output, /^! never-ready failed: never-ready was not ready within 10 s$/m)
  assert.deepEqual(lab.leftovers(), [])
})
