/** The words in which a document says schemas. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, type OpenAPIResponse, openapiOf } from 'volant'
import * as z from 'zod'
import { plain, replying, schemaAt } from './schemas.ts'

const info = { title: 'Test', version: '1.0.0' }

describe('schemas in a document', () => {
  test('a union of components that one constant tells apart has a discriminator', () => {
    const kind = (name: string, more: object = {}) =>
      z.object({ id: z.literal('x'), kind: z.literal(name), ...more }).meta({ title: name })
    const Cat = kind('cat', { lives: z.number() })
    const Dog = kind('dog')
    const Bird = z.object({ id: z.literal('x'), kind: z.literal('bird').optional() }).meta({ title: 'bird' })
    const document = replying({
      '/cat': Cat,
      '/dog': Dog,
      '/bird': Bird,
      '/pet': z.discriminatedUnion('kind', [Cat, Dog]),
      '/list': z.array(z.union([Dog, Cat])),
      // Its kind may be absent; another one has no title.
      '/any': z.object({ pet: z.union([Cat, Bird]) }),
      '/inline': z.object({ pet: z.discriminatedUnion('kind', [Cat, z.object({ kind: z.literal('fox') })]) }),
    })
    const reference = (name: string): string => `#/components/schemas/${name}`
    const discriminator = { propertyName: 'kind', mapping: { cat: reference('Cat'), dog: reference('Dog') } }
    const told = JSON.stringify(document).match(/"discriminator":\{[^}]*\}/g) ?? []
    assert.equal(told.length, 2)
    const pet = schemaAt(document, '/pet') as Record<string, unknown>
    assert.deepEqual(pet['discriminator'], discriminator)
    const { items } = schemaAt(document, '/list') as { items: Record<string, unknown> }
    assert.deepEqual(items['discriminator'], discriminator)
  })

  test('bounds of safe integers are a format, in requests and in replies', () => {
    const app = createApp({ signals: false })
    const Count = z
      .object({
        n: z.int(),
        few: z.int().max(5),
        more: z.int().positive(),
        age: z.int().min(0).max(150),
        list: z.array(z.int()),
      })
      .meta({ title: 'Count' })
    app.post('/a', { body: Count, response: Count }, (ctx) => ctx.body)
    const { requestBody, responses } = openapiOf(app, { info }).paths['/a']?.['post'] ?? {}
    const { content } = (responses?.['200'] ?? {}) as OpenAPIResponse
    const $ref = '#/components/schemas/Count'
    assert.deepEqual(content?.['application/json']?.schema, { $ref })
    assert.deepEqual(requestBody?.content['application/json']?.schema, { $ref })
    assert.deepEqual(openapiOf(app, { info }).components.schemas?.['Count']?.['properties'], {
      n: { type: 'integer', format: 'double-int' },
      few: { type: 'integer', format: 'double-int', maximum: 5 },
      more: { type: 'integer', format: 'double-int', exclusiveMinimum: 0 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      list: { type: 'array', items: { type: 'integer', format: 'double-int' } },
    })
  })

  test('whole numbers of the query of a plain schema are those that a double holds, as they are when they are read', async () => {
    const app = createApp({ signals: false })
    const query = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        ids: { type: 'array', items: { type: 'integer', minimum: 0 } },
        age: { type: 'integer', minimum: 0, maximum: 150 },
      },
    } as const
    app.get('/a', { query }, (ctx) => ctx.json(ctx.query))
    const parameters = openapiOf(app, { info }).paths['/a']?.['get']?.parameters ?? []
    assert.deepEqual(
      parameters.map(({ schema }) => schema),
      [
        { type: 'integer', format: 'double-int' },
        { type: 'array', items: { type: 'integer', minimum: 0, format: 'double-int' } },
        { type: 'integer', minimum: 0, maximum: 150 },
      ],
    )
    const statusOf = async (id: string): Promise<number> => (await app.inject(`/a?id=${id}`)).status
    assert.deepEqual([await statusOf('9007199254740991'), await statusOf('9007199254740993')], [200, 400])
  })

  test('schemas are in words that generators of clients can read', () => {
    const forms: [schema: object, expected: object][] = [
      [
        z.tuple([z.number(), z.string()]),
        {
          type: 'array',
          prefixItems: [{ type: 'number' }, { type: 'string' }],
          items: {},
          minItems: 2,
          maxItems: 2,
        },
      ],
      [
        z.tuple([z.string()], z.number()),
        { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' }, minItems: 1 },
      ],
      [
        { type: 'array', prefixItems: [{ type: 'string' }], items: false, maxItems: 5 },
        { type: 'array', prefixItems: [{ type: 'string' }], items: {}, maxItems: 1 },
      ],
      [
        { type: 'array', items: false },
        { type: 'array', items: {}, maxItems: 0 },
      ],
      [{ type: 'array' }, { type: 'array', items: {} }],
      [
        { type: 'object', properties: { a: true, b: { not: true } }, additionalProperties: false },
        { type: 'object', properties: { a: {}, b: { not: {} } }, additionalProperties: false },
      ],
      [
        { type: 'object', patternProperties: { '^c': false } },
        { type: 'object', patternProperties: { '^c': { not: {} } } },
      ],
      [
        { type: ['string', 'number', 'boolean'], minLength: 1 },
        { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }], minLength: 1 },
      ],
      [
        { type: ['string', 'integer'], anyOf: [{ const: 'a' }, { const: 1 }] },
        {
          anyOf: [{ const: 'a' }, { const: 1 }],
          allOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }],
        },
      ],
      [{ type: ['string', 'null'] }, { type: ['string', 'null'] }],
      [{ type: ['integer'] }, { type: 'integer' }],
      [
        z.literal(['a', 1, true, null, 'b']),
        {
          anyOf: [
            { type: 'string', enum: ['a', 'b'] },
            { type: 'number', enum: [1] },
            { type: 'boolean', enum: [true] },
            { type: 'null' },
          ],
        },
      ],
      [z.literal(['a', null]), { enum: ['a', null] }],
      [z.json(), {}],
      [
        z.looseObject({ any: z.json() }),
        { type: 'object', properties: { any: {} }, required: ['any'], additionalProperties: {} },
      ],
    ]
    // They are declared as items of a body, which nobody sends as text.
    const routes = forms.map(([schema], at) => [
      `/${at}`,
      schema instanceof z.ZodType ? z.array(schema) : plain({ type: 'array', items: schema }),
    ])
    const document = replying(Object.fromEntries(routes))
    for (const [at, [, expected]] of forms.entries())
      assert.deepEqual(schemaAt(document, `/${at}`), { type: 'array', items: expected })
  })

  test('a tuple is checked as ever, whatever words the document has for it', async () => {
    const app = createApp({ signals: false })
    const closed = { type: 'array', prefixItems: [{ type: 'number' }], items: false } as const
    app.post('/plain', { body: closed }, () => 'ok')
    app.post('/zod', { body: z.tuple([z.number()]) }, () => 'ok')
    openapiOf(app, { info })
    for (const path of ['/plain', '/zod']) {
      const post = async (json: unknown): Promise<number> =>
        (await app.inject({ method: 'POST', url: path, body: json })).status
      assert.deepEqual([await post([1]), await post([1, 2])], [200, 400], path)
    }
  })

  test('text is text/plain, everything else is JSON, unless the route says what it is', () => {
    const typesOf = (schema: object): string[] => {
      const reply = replying({ '/a': plain(schema) }).paths['/a']?.['get']?.responses['200']
      return reply !== undefined && 'content' in reply ? Object.keys(reply.content ?? {}) : []
    }
    assert.deepEqual(typesOf({ type: 'string' }), ['text/plain', 'application/json'])
    assert.deepEqual(typesOf({ enum: ['a', 'b'] }), ['text/plain', 'application/json'])
    assert.deepEqual(typesOf({ const: 1 }), ['application/json'])
    assert.deepEqual(typesOf({ anyOf: [{ type: 'string' }, { type: 'object' }] }), [
      'application/json',
      'text/plain',
    ])
    assert.deepEqual(typesOf({ $ref: '#/$defs/T', $defs: { T: { type: 'string' } } }), [
      'text/plain',
      'application/json',
    ])
    assert.deepEqual(typesOf({ $ref: '#/$defs/T', $defs: { T: { $ref: '#/$defs/T' } } }), [
      'application/json',
      'text/plain',
    ])
    assert.deepEqual(typesOf({ properties: {} }), ['application/json'])
  })
})
