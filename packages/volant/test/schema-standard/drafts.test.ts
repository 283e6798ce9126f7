import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRequire } from 'node:module'
import { Type } from 'typebox'
import { formats } from '../../src/schema/keywords.ts'
import { told, passes } from './kit.ts'

test('every draft is read', () => {
  const tuple = { type: 'array', items: [{ type: 'string' }], additionalItems: false }
  assert.deepEqual(told(tuple, [1, 2]).sort(), ['/ must NOT have more than 1 items', '/0 must be string'])
  const seven = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'http://example.com/root.json',
    definitions: {
      name: { $id: '#name', type: 'string' },
      item: {
        $id: 'item.json',
        type: 'object',
        properties: { deep: { $ref: '#/definitions/n' } },
        definitions: { n: { type: 'number' } },
      },
    },
    type: 'object',
    properties: {
      a: { $ref: '#name' },
      b: { $ref: 'item.json' },
      c: { $ref: 'http://example.com/item.json#/definitions/n' },
      d: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] },
      e: { $ref: '#/properties/d/items/1' },
    },
    dependencies: { a: ['b'], c: { required: ['a'] } },
  }
  assert.deepEqual(told(seven, { a: 1, c: 'x', d: [1, 'x'], e: 'x', b: { deep: 'x' } }).sort(), [
    '/a must be string',
    '/b/deep must be number',
    '/c must be number',
    '/d/0 must be string',
    '/d/1 must be number',
    '/e must be number',
  ])
  assert.deepEqual(told(seven, { a: 'x' }), ['/b is required beside "a"'])
  assert.ok(passes({ type: 'string', nullable: true }, null))
  const anchored = { $defs: { x: { $anchor: 'here', type: 'string' } }, $ref: '#here' }
  assert.deepEqual(told(anchored, 1), ['/ must be string'])
  const tree = { $id: 'tree', type: 'object', properties: { next: { $ref: 'tree' }, n: { type: 'number' } } }
  assert.deepEqual(told(tree, { next: { next: { n: 'x' } } }), ['/next/next/n must be number'])
  // Two schemas may have one $id.
  assert.ok(passes({ $id: 'tree', type: 'string' }, 'x'))
})

test('TypeBox', () => {
  const Node = Type.Cyclic(
    { Node: Type.Object({ next: Type.Optional(Type.Ref('Node')), n: Type.Number() }) },
    'Node',
  )
  assert.ok(passes(Node, { n: 1, next: { n: 2 } }))
  assert.deepEqual(told(Node, { n: 1, next: { n: 'x' } }), ['/next/n must be number'])
  const all = Type.Object({
    pair: Type.Tuple([Type.String(), Type.Number()]),
    map: Type.Record(Type.String(), Type.Integer()),
    role: Type.Union([Type.Literal('a'), Type.Null()]),
    both: Type.Intersect([Type.Object({ x: Type.String() }), Type.Object({ y: Type.String() })]),
    like: Type.String({ pattern: /^[a-z]+$/ }),
  })
  assert.ok(passes(all, { pair: ['a', 1], map: { k: 1 }, role: null, both: { x: '', y: '' }, like: 'a' }))
  assert.deepEqual(
    told(all, { pair: ['a'], map: { k: 'x' }, role: 'b', both: { x: '' }, like: '1' }).sort(),
    [
      '/both/y is required',
      '/like must match pattern "^[a-z]+$"',
      '/map/k must be integer',
      '/pair must NOT have fewer than 2 items',
      '/role must be "a" or null',
    ],
  )
})

test('the formats are those of ajv-formats', () => {
  const { fullFormats } = createRequire(import.meta.url)('ajv-formats/dist/formats.js') as {
    fullFormats: Record<string, unknown>
  }
  assert.deepEqual(formats, Object.keys(fullFormats))
  assert.ok(passes({ format: 'url' }, 'https://example.com/a'))
  assert.ok(!passes({ format: 'url' }, 'nope'))
})
