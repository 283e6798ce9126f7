/** What holds for any schema and any value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rootNodeOf } from '../../src/schema/strip/schema-node.ts'
import { compileStrip } from '../../src/schema/strip/strip-codegen.ts'
import { serializerFor } from '../../src/schema/strip/serializer.ts'
import { undeclared } from '../../src/schema/strip/strip.ts'
import { RandomSchemas } from './random.ts'
import { textsOf } from './texts.ts'

test('generated code and walk give the same text, for any schema and any value', () => {
  let compiled = 0
  for (let seed = 0; seed < 1500; seed++) {
    const source = new RandomSchemas(seed, false)
    const schema = source.document()
    if (compileStrip(rootNodeOf(schema)) !== null) compiled++
    for (let round = 0; round < 4; round++) {
      const [fast, walked] = textsOf(schema, source.value(4))
      assert.equal(fast, walked, `seed ${seed}, round ${round}: ${JSON.stringify(schema)}`)
    }
  }
  assert.ok(compiled > 250, `${compiled} schemas were compiled`)
})

test('what leaves is declared, and nothing that is declared stays', () => {
  let lost = 0
  for (let seed = 0; seed < 1500; seed++) {
    const source = new RandomSchemas(seed, true)
    const schema = source.document()
    const serialize = serializerFor(schema, { alreadyStripped: false })
    for (let round = 0; round < 4; round++) {
      const value = source.value(4)
      const left = JSON.parse(serialize(value)) as unknown
      const found = undeclared(value, schema)?.pointers[0] ?? null
      const where = `seed ${seed}, round ${round}: ${JSON.stringify(schema)} ${JSON.stringify(value)}`
      assert.equal(undeclared(left, schema), null, where)
      if (found === null) assert.deepEqual(left, value, where)
      else {
        lost++
        assert.notDeepEqual(left, value, where)
      }
    }
  }
  assert.ok(lost > 500, `${lost} values lost something`)
})
