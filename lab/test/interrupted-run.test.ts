import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { loadPath } from '../src/folders.ts'
import { skip } from './broken-entry.ts'
import { laboratory } from './laboratory.ts'

const lab = laboratory({ one: ['honest'] })
after(() => lab.close())

/** A busy machine stops a server for up to 2 s: in a shorter window nothing may be answered. */
const args = ['run', '--rounds', '4', '--warmup', '0.2', '--window', '2.5', '--name', 'cut']

test('SIGINT: exit 130, nothing left running; --resume measures only what is missing', { skip }, async () => {
  const target = join(lab.folder, 'target')
  mkdirSync(join(target, 'release'), { recursive: true })
  const load = join(target, 'release/load')
  const uses = join(target, 'uses')
  writeFileSync(uses, '')
  // The check and two cells are as they should be. The third cell goes on for longer than the test.
  writeFileSync(
    load,
    `#!/bin/sh\n[ $(wc -l < ${uses}) -lt 3 ] || sed -i 's/"seconds":2.5/"seconds":600/' "$2"\necho use >> ${uses}\nexec ${loadPath} "$@"\n`,
  )
  chmodSync(load, 0o755)
  const { child, ended } = lab.start([...args, '--scenarios', 'ramapi-json:plain', '--entries', 'one'], {
    CARGO_TARGET_DIR: target,
  })
  const used = (): number => readFileSync(uses, 'utf8').split('\n').length - 1
  for (const count of [1, 2, 3, 4])
    await eventually(() => used() >= count, `the generator is started ${count} times`)
  child.kill('SIGINT')
  const { code, errors } = await ended
  assert.equal(code, 130, errors)
  const before = lab.cells('cut')
  assert.equal(before.length, 2)
  assert.deepEqual(
    before.filter(({ status }) => status === 'failed'),
    [],
  )
  await eventually(() => lab.leftovers().length === 0, 'nothing is left running')

  const resumed = await lab.run(['run', '--resume', 'cut'])
  assert.equal(resumed.code, 0, resumed.errors)
  assert.match(resumed.errors, /^4 cells, 2 of them done before; about /m)
  const all = lab.cells('cut')
  assert.deepEqual(all.slice(0, 2), before)
  assert.deepEqual(new Set(all.map(({ round }) => round)).size, 4)
  assert.equal(all.length, 4)

  const again = await lab.run(['run', '--resume', 'cut'])
  assert.equal(again.code, 0, again.errors)
  assert.match(again.errors, /^4 cells, 4 of them done before; /m)
  assert.deepEqual(lab.cells('cut'), all)
})
