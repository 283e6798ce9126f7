/** What of a value its schema does not declare, and what is left without it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeMade } from '../../src/schema/normalize.ts'
import * as normal from '../../src/schema/strip/strip.ts'

export type Schema = Parameters<typeof normal.strip>[1]

const known = new WeakMap<Schema, Schema>()

function normalOf(schema: Schema): Schema {
  const made = known.get(schema) ?? normalizeMade(schema)
  known.set(schema, made)
  return made
}

export const strip = (value: unknown, schema: Schema) => normal.strip(value, normalOf(schema))
export const undeclared = (value: unknown, schema: Schema) => normal.undeclared(value, normalOf(schema))

export const user = {
  type: 'object',
  properties: { id: { type: 'integer' }, name: { type: 'string' } },
  required: ['id'],
}

export function firstOf(value: unknown, schema: Schema): string | null {
  return undeclared(value, schema)?.pointers[0] ?? null
}

/** What is left of a value, and the place of the first property that is not: null if all is left. */
export type Row = [title: string, schema: Schema, value: unknown, left: unknown, at: string | null]

export function check(rows: readonly Row[]): void {
  for (const [title, schema, value, left, at] of rows) {
    test(`undeclared properties: ${title}`, () => {
      const before = JSON.stringify(value)
      assert.equal(firstOf(value, schema), at)
      assert.equal(JSON.stringify(strip(value, schema)), JSON.stringify(left))
      assert.equal(JSON.stringify(value), before, 'the value itself is as it was')
    })
  }
}
