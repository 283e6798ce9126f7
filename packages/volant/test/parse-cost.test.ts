/** No field and no head of a client takes a time that grows as the square of its length. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMediaType } from '../src/request/media-type.ts'
import { parse, usual, withHead } from './forms/kit.ts'
import { atoms, check } from './hostile-fields.ts'
import { assertNotQuadratic } from './proportional.ts'

test('any two of what fields are made of, in a row', () => {
  for (const first of atoms) {
    for (const second of atoms) {
      const mixed = first + second
      const name = JSON.stringify(mixed)
      assertNotQuadratic(name, (size) => `${mixed.repeat(size / mixed.length)}x`, check)
      const halves = (size: number) =>
        first.repeat(size / 2 / first.length) + second.repeat(size / 2 / second.length)
      assertNotQuadratic(`${name}, in halves`, halves, check)
    }
  }
})

const mediaTypes: Record<string, (size: number) => string> = {
  'quotes that are not closed': (size) => `x/y${'; a="'.repeat(size / 5)}`,
  parameters: (size) => `x/y${'; a=b'.repeat(size / 5)}`,
  blanks: (size) => `x/y${' '.repeat(size)}x`,
  backslashes: (size) => `x/y;a="${'\\'.repeat(size)}`,
}

for (const [name, shape] of Object.entries(mediaTypes)) {
  test(`media types of ${name}`, () => assertNotQuadratic(name, shape, parseMediaType))
}

test('blanks in lines of the head of a part', () => {
  // A line may have 4,096 bytes, and a head 16 lines.
  const lines = (size: number) =>
    withHead(
      'Content-Disposition: form-data; name=a',
      ...Array.from({ length: 15 }, (_, at) => `x-${at}: ${' '.repeat(size / 16)}y`),
    ).toString('latin1')
  // Many of them, since one takes less than the clock can tell.
  assertNotQuadratic('blanks', lines, (text) => {
    const body = Buffer.from(text, 'latin1')
    for (let round = 0; round < 100; round++)
      assert.equal(parse(body, body.length, { ...usual, maxFormParts: 1 }).length, 1)
  })
})
