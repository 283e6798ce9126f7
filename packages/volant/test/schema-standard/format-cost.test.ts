/** A text under a format takes time at most in proportion to its length. */
import { test } from 'node:test'
import { formats } from '../../src/schema/keywords.ts'
import { standardOf } from '../../src/schema/standard.ts'
import { assertProportional } from '../proportional.ts'

const shapes: Record<string, (size: number) => string> = {
  'user names in an address': (size) => `http://[${':a@'.repeat(size / 3)}`,
  letters: (size) => 'a'.repeat(size),
  digits: (size) => '1'.repeat(size),
}

for (const format of formats) {
  test(`a text that should be of format ${format}: time(2n) / time(n) ≤ 2.2`, () => {
    // It is compiled once: what that costs would hide what a short text costs.
    const schema = { type: 'object', properties: { a: { type: 'string', format } } }
    const { validate } = standardOf(schema, 'test', 'body')
    for (const [name, shape] of Object.entries(shapes))
      assertProportional(name, shape, (a) => validate({ a }))
  })
}
