/** What becomes of one value under one schema that is given as JSON Schema or by a library. */
import assert from 'node:assert/strict'
import { standardOf, type SchemaUse } from '../../src/schema/standard.ts'

export type Outcome = { value: unknown } | { issues: { message: string; path: string[] }[] }

export const run = (schema: unknown, value: unknown, use: SchemaUse = 'body'): Outcome =>
  standardOf(schema, 'test', use).validate(value) as Outcome

export const told = (schema: unknown, value: unknown, use: SchemaUse = 'body'): string[] => {
  const outcome = run(schema, value, use)
  assert.ok('issues' in outcome, `${JSON.stringify(value)} passed`)
  return outcome.issues.map(({ path, message }) => `/${path.join('/')} ${message}`)
}

export const passes = (schema: unknown, value: unknown): boolean => 'value' in run(schema, value)
