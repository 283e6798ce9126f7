import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import * as z from 'zod'
import { standardOf } from '../../src/schema/standard.ts'
import { passes } from './kit.ts'

test('a Standard Schema is its own', () => {
  const schema = z.string()
  assert.equal(standardOf(schema, 'test', 'response'), schema['~standard'])
  const other = { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } }
  assert.equal(standardOf(other, 'test'), other['~standard'])
})

test('mistakes in a schema are told with their place, when it is registered', () => {
  class Thing {
    type = 'object'
  }
  const cyclic: Record<string, unknown> = { type: 'object' }
  cyclic.properties = { self: cyclic }
  assert.ok(passes(Type.Unknown(), 1))
  const table: [schema: unknown, message: RegExp][] = [
    [undefined, /test takes a schema with '~standard'.*not undefined/],
    [null, /not null/],
    ['object', /not string/],
    [() => true, /not function/],
    [new Thing(), /not an object with type/],
    [{}, /not an object with no keys/],
    [{ kind: 'object' }, /not an object with kind/],
    [{ name: z.string() }, /not an object with name/],
    [{ '~standard': {} }, /takes a schema/],
    [{ type: 'strin' }, /#\/type takes one or more of object, .*, not "strin"/],
    [{ type: 'object', properties: { a: { type: 'date' } } }, /#\/properties\/a\/type takes/],
    [{ type: 'object', properties: { a: z.string() } }, /#\/properties\/a is of another library/],
    [{ type: 'object', properties: { a: 'string' } }, /#\/properties\/a takes a schema, not "string"/],
    [{ type: 'object', properties: [] }, /#\/properties takes schemas by name, not an empty array/],
    [{ type: 'object', required: true }, /#\/required takes an array of texts, not true/],
    [{ type: 'object', requried: ['a'] }, /#\/requried is no keyword.*did you mean "required"/],
    [{ type: 'string', minlength: 1 }, /did you mean "minLength"/],
    [{ type: 'string', minLength: -1 }, /#\/minLength takes a whole number from 0, not -1/],
    [{ exclusiveMinimum: true, minimum: 1 }, /#\/exclusiveMinimum takes a number, not true/],
    [{ multipleOf: 0 }, /#\/multipleOf takes a number over 0/],
    [{ type: 'string', pattern: '(' }, /#\/pattern takes a regular expression/],
    [{ type: 'string', pattern: /a/i }, /#\/pattern has flags/],
    [{ patternProperties: { '(': {} } }, /#\/patternProperties\/\( is no regular expression/],
    [{ type: 'string', format: 'e-mail' }, /#\/format takes one of .*, not "e-mail"/],
    [{ enum: [] }, /#\/enum takes an array of values/],
    [{ anyOf: [] }, /#\/anyOf takes an array of schemas/],
    [{ const: 1n }, /#\/const takes JSON, not 1n/],
    [{ $ref: '#/$defs/none' }, /#\/\$ref leads nowhere, and nothing is loaded: "#\/\$defs\/none"/],
    [{ properties: { a: { $ref: 'http://127.0.0.1:1/x.json' } } }, /#\/properties\/a\/\$ref leads nowhere/],
    [{ $schema: 'http://json-schema.org/draft-04/schema#', type: 'object' }, /#\/\$schema is draft 2020-12/],
    [{ $schema: 'https://example.com/own', type: 'object' }, /#\/\$schema/],
    [cyclic, /#\/properties\/self contains itself/],
    [JSON.parse('{"properties":{"__proto__":{}}}'), /#\/properties has a key __proto__/],
    [Type.BigInt(), /#\/type takes/],
    [Type.Refine(Type.String(), () => false), /has a refinement or a codec of TypeBox/],
    [Type.Codec(Type.String()).Decode(Number).Encode(String), /has a refinement or a codec of TypeBox/],
  ]
  for (const [schema, message] of table) {
    assert.throws(() => standardOf(schema, 'test'), { code: 'E_BAD_SCHEMA', message }, String(message))
  }
  // What others put beside keywords is theirs.
  assert.ok(
    passes({ type: 'string', example: 'x', 'x-own': { a: 1 }, xml: {}, order: 1, markdown: () => 1 }, 'a'),
  )
})

test('what was registered stays as it was', () => {
  const schema: { type: string } = { type: 'string' }
  const standard = standardOf(schema, 'test')
  schema.type = 'number'
  assert.deepEqual(standard.validate('x'), { value: 'x' })
})
