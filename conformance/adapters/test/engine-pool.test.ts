import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Child } from './engine/child.ts'
import { skip } from './engine/native.ts'

const modes: [string, number, string][] = [
  ['shared', 100, 'shared threads'],
  ['isolated', 40, 'a thread for each'],
]

for (const [mode, count, what] of modes) {
  test(`${count} tasks of a worker pool with ${what}`, { skip }, async () => {
    assert.deepEqual(await new Child('pool', [String(count), mode]).outcome, {
      code: 0,
      signal: null,
      output: `${count} right\n`,
      errors: '',
    })
  })
}
