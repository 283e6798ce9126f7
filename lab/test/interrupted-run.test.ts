import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { skip } from './broken-entry.ts'
import { laboratory } from './laboratory.ts'

const lab = laboratory({ one: ['honest'] })
after(() => lab.close())

const args = ['run', '--rounds', '4', '--warmup', '0.8', '--window', '0.3', '--name', 'cut']

test('SIGINT: exit 130, nothing left running; --resume measures only what is missing', { skip }, async () => {
  const { child, ended } = lab.start([...args, '--scenarios', 'ramapi-json:plain', '--entries', 'one'])
  const file = lab.file('cut', 'cells.jsonl')
  const lines = (): number => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0)
  for (let waited = 0; lines() < 2 && waited < 600; waited += 1) await sleep(50)
  // In the middle of the third.
  await sleep(300)
  child.kill('SIGINT')
  const { code, errors } = await ended
  assert.equal(code, 130, errors)
  const before = lab.cells('cut')
  assert.ok(before.length >= 2 && before.length < 4, String(before.length))
  assert.deepEqual(
    before.filter(({ status }) => status === 'failed'),
    [],
  )
  for (let waited = 0; lab.leftovers().length > 0 && waited < 40; waited += 1) await sleep(50)
  assert.deepEqual(lab.leftovers(), [])

  const resumed = await lab.run(['run', '--resume', 'cut'])
  assert.equal(resumed.code, 0, resumed.errors)
  assert.match(resumed.errors, new RegExp(`^4 cells, ${before.length} of them done before; about `, 'm'))
  const all = lab.cells('cut')
  assert.deepEqual(all.slice(0, before.length), before)
  assert.deepEqual(new Set(all.map(({ round }) => round)).size, 4)
  assert.equal(all.length, 4)

  const again = await lab.run(['run', '--resume', 'cut'])
  assert.equal(again.code, 0, again.errors)
  assert.match(again.errors, /^4 cells, 4 of them done before; /m)
  assert.deepEqual(lab.cells('cut'), all)
})
