/** Fields a client may write anything into: no parser of theirs throws or invents; parse-cost.test.ts has what they cost. */
import { test } from 'node:test'
import { Random } from '@volant/test-kit'
import { atoms, check } from './hostile-fields.ts'

test('twenty thousand mixtures of what these fields are made of', () => {
  const random = new Random(7)
  for (let round = 0; round < 20_000; round++) {
    check(Array.from({ length: random.below(40) }, () => random.pick(atoms)).join(''))
  }
})
