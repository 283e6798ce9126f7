/** Random schemas with titles, definitions and references: the document has to say of each what the schema says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Random } from '@volant/test-kit'
import { createApp, openapiOf, type Schema } from 'volant'

type JSONSchema = Record<string, any>

test('components say what their schemas say, whatever is equal, nearly equal or refers to itself', () => {
  const random = new Random(1)
  for (let run = 0; run < 200; run++) {
    const schemas: JSONSchema[] = []
    while (schemas.length < 4) {
      const known = schemas[random.below(schemas.length + 2)]
      schemas.push(known === undefined ? randomSchema(random) : changed(structuredClone(known), random))
    }
    const app = createApp({ signals: false })
    for (const [at, schema] of schemas.entries())
      app.get(`/${at}`, { response: standard(schema) }, () => undefined as never)
    const { paths, components } = openapiOf(app, { info: { title: 'Test', version: '1' } })
    for (const [at, schema] of schemas.entries()) {
      const reply = paths[`/${at}`]?.['get']?.responses['200'] as { content: JSONSchema } | undefined
      const said = unfolded(reply?.content['application/json'].schema, components, 6)
      assert.deepEqual(said, unfolded(schema, schema, 6), `${run}: ${JSON.stringify(schemas)}`)
    }
  }
})

function standard(schema: JSONSchema): Schema {
  const jsonSchema = { input: () => schema, output: () => schema }
  const validate = (value: unknown) => ({ value })
  return { '~standard': { version: 1, vendor: 'test', validate, jsonSchema } } as Schema
}

function randomSchema(random: Random): JSONSchema {
  const $defs = Object.fromEntries(['X', 'Y'].map((name) => [name, randomObject(random, 1)]))
  return { ...randomObject(random, 2), $defs }
}

function randomObject(random: Random, depth: number): JSONSchema {
  const part = (): JSONSchema => {
    const kind = random.below(depth > 0 ? 6 : 3)
    if (kind === 0) return { type: 'string' }
    if (kind === 1) return { $ref: ['#', '#/$defs/X', '#/$defs/Y'][random.below(3)] }
    if (kind === 2) return { const: { additionalProperties: false } }
    if (kind === 3) return { anyOf: [randomObject(random, depth - 1), part()] }
    return randomObject(random, depth - 1)
  }
  const title = ['A', 'B', undefined][random.below(3)]
  return {
    type: 'object',
    properties: { a: part(), b: part() },
    ...(title !== undefined && { title }),
    ...(random.below(3) === 0 && { description: 'Said of it' }),
    ...(random.below(3) === 0 && { additionalProperties: false }),
  }
}

/** The schema with one small difference. */
function changed(schema: JSONSchema, random: Random): JSONSchema {
  const parts: JSONSchema[] = []
  JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'const' || typeof value !== 'object' || value === null) return value
    if ('type' in value || '$ref' in value) parts.push(value)
    return value
  })
  const part = parts[random.below(parts.length)] as JSONSchema
  if (random.below(2) === 0) part['description'] = 'Said of another'
  else if (part['type'] === 'object') part['additionalProperties'] = false
  return schema
}

/** The schema without titles, and with what its references lead to in their place, up to a depth. */
function unfolded(schema: JSONSchema, root: JSONSchema, depth: number): unknown {
  const { $ref, title: _, $defs: __, ...said } = schema
  if (depth === 0) return 0
  if ($ref !== undefined) {
    const target = $ref === '#' ? root : (root['$defs'] ?? root['schemas'])[$ref.split('/').at(-1)]
    return unfolded({ ...target, ...said }, root, depth)
  }
  const inside = (each: JSONSchema): unknown => unfolded(each, root, depth - 1)
  return {
    ...said,
    ...(said['properties'] && {
      properties: Object.fromEntries(
        Object.entries(said['properties'] as JSONSchema).map(([name, each]) => [name, inside(each)]),
      ),
    }),
    ...(said['anyOf'] && { anyOf: said['anyOf'].map(inside) }),
  }
}
