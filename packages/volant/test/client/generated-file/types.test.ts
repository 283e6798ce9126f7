/** The text of a type that a schema describes, and which types have a name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { clientFile } from '../../../src/generate/client-file.ts'
import { TypeTexts } from '../../../src/generate/type-text.ts'
import { contract } from '../../../src/index.ts'
import { typeTexts } from '../../type-text-rows.ts'

for (const [schema, text] of typeTexts) {
  test(`the type of ${JSON.stringify(schema)}`, () => assert.equal(new TypeTexts([]).of(schema, 'X'), text))
}

test('types that refer to themselves have names, each its own', () => {
  const texts = new TypeTexts(['Api', 'Node'])
  const list = (type: string) => ({
    type: 'object',
    properties: { next: { $ref: '#' }, value: { type } },
    required: ['next', 'value'],
  })
  assert.equal(
    texts.of(
      {
        type: 'array',
        items: { $ref: '#/$defs/node' },
        $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } },
      },
      'A',
    ),
    'Node2[]',
  )
  assert.match(texts.of(list('string'), 'Api'), /next: Api2/)
  assert.match(texts.of(list('number'), 'Api'), /next: Api3/)
  assert.match(texts.of(list('number'), 'Other'), /next: Api3/)
  assert.deepEqual([...texts.declared.keys()], ['Node2', 'Api2', 'Api3'])
  assert.equal(texts.declared.get('Node2'), 'Node2[]')
})

test('objects with a title or an id are declared once, and what clients send beside it where it differs', () => {
  const Author = z.object({ name: z.string() }).meta({ id: 'author' })
  const Book = z
    .object({ isbn: z.string(), pages: z.number().default(1), by: Author })
    .meta({ title: 'Book' })
  const Other = z.object({ other: z.string() }).meta({ title: 'Book' })
  const book = { type: 'object', properties: { a: {} }, title: 'A book' } as const
  const kind = z.enum(['a', 'b']).meta({ title: 'Kind' })
  const tree = {
    add: contract.post('/books', { body: Book, response: { 201: Book } }),
    all: contract.get('/books', { response: z.array(Book) }),
    by: contract.get('/author', { response: Author.nullable() }),
    other: contract.get('/other', { response: { 200: Other, 201: book, 202: kind } }),
  }
  const { text } = clientFile(tree)
  assert.deepEqual(
    [...text.matchAll(/^export type (\w+) = /gm)].map(([, name]) => name),
    ['Book', 'Author', 'Book2', 'BookInput'],
  )
  for (const each of [
    'body: BookInput',
    'Success<201, Book>',
    'Success<200, Book[]>',
    'Success<200, Author | null>',
    'Success<200, Book2>',
    'Success<202, "a" | "b">',
  ])
    assert.ok(text.includes(each), each)
  assert.match(
    text,
    /export type BookInput = \{\n {2}isbn: string\n {2}pages\?: number \| undefined\n {2}by: Author\n\}/,
  )
})

test('a type that refers to itself is declared once for both directions, by its title', () => {
  const Node: z.ZodType = z
    .object({
      get next() {
        return Node.optional()
      },
    })
    .meta({ title: 'Knot' })
  const { text } = clientFile({ a: contract.post('/a', { body: Node, response: z.array(Node) }) })
  assert.deepEqual(
    [...text.matchAll(/^export type (\w+) = /gm)].map(([, name]) => name),
    ['Knot'],
  )
  assert.match(text, /export type Knot = \{\n {2}next\?: Knot \| undefined\n\}/)
})
