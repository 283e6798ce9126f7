/** Fields a client may write anything into: no parser of theirs throws or invents; parse-cost.test.ts has what they cost. */
import { test } from 'node:test'
import { atoms, check } from './hostile-fields.ts'

test('twenty thousand mixtures of what these fields are made of', () => {
  let seed = 7
  const below = (limit: number) => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) % limit
  for (let round = 0; round < 20_000; round++) {
    check(Array.from({ length: below(40) }, () => atoms[below(atoms.length)]).join(''))
  }
})
