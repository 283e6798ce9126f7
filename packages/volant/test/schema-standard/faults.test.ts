import assert from 'node:assert/strict'
import { test } from 'node:test'
import { told, passes } from './kit.ts'

test('all that is wrong is told, each in one issue and without the value', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 2 },
      'a/b~c': { type: 'number' },
      role: { enum: ['admin', 'user'] },
      kind: { const: 1 },
      nullable: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      literals: { anyOf: [{ const: 'x' }, { const: 'y' }, { type: 'integer' }] },
      shape: {
        oneOf: [
          {
            type: 'object',
            properties: { t: { const: 'circle' }, r: { type: 'number' } },
            required: ['t', 'r'],
          },
          {
            type: 'object',
            properties: { t: { const: 'square' }, a: { type: 'number' } },
            required: ['t', 'a'],
          },
        ],
      },
      open: { anyOf: [{ required: ['x'] }, { required: ['y'] }] },
      list: { type: 'array', uniqueItems: true, contains: { type: 'string' } },
      price: { multipleOf: 0.01 },
      mail: { format: 'email' },
      never: false,
      not: { not: { type: 'string' } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword
      if: { if: { type: 'string' }, then: { minLength: 3 } },
      map: { propertyNames: { pattern: '^[a-z]+$' } },
    },
    required: ['id'],
    additionalProperties: false,
    dependentRequired: { name: ['surname'] },
  }
  const given = {
    name: 'N',
    'a/b~c': 'SECRET',
    role: 'SECRET',
    kind: 2,
    nullable: 4,
    literals: 'SECRET',
    shape: { t: 'circle', r: 'SECRET' },
    open: {},
    list: [1, 1],
    price: 0.015,
    mail: 'SECRET',
    never: 1,
    not: 'SECRET',
    if: 'no',
    map: { 'A B': 1 },
    more: 'SECRET',
  }
  const issues = told(schema, given)
  assert.deepEqual(issues.sort(), [
    '/a/b~c must be number',
    '/id is required',
    '/if must NOT have fewer than 3 characters',
    '/kind must be 1',
    '/list must contain at least 1 valid item(s)',
    '/list must not have the same item twice',
    '/literals must be "x", "y" or integer',
    '/mail must match format "email"',
    '/map/A B has a name that is not allowed',
    '/more is not declared',
    '/name must NOT have fewer than 2 characters',
    '/never must not be there',
    '/not must not be what its schema excludes',
    '/nullable must be string or null',
    '/open must be one of its alternatives',
    '/price must be multiple of 0.01',
    '/role must be "admin" or "user"',
    '/shape/r must be number',
    '/surname is required beside "name"',
  ])
  assert.ok(!issues.join().includes('SECRET'))
  assert.deepEqual(told({ oneOf: [{ type: 'number' }, { minimum: 1 }] }, 2), [
    '/ must be only one of its alternatives',
  ])
  assert.ok(passes({ multipleOf: 0.01 }, 19.99))
})

test('alternatives that are referred to', () => {
  const schema = {
    type: 'object',
    properties: {
      shape: { anyOf: [{ $ref: '#/$defs/circle' }, { $ref: '#/$defs/square' }] },
      n: { type: 'number' },
    },
    $defs: {
      circle: { type: 'object', properties: { t: { const: 'circle' }, at: { $ref: '#/$defs/point' } } },
      square: { type: 'object', properties: { t: { const: 'square' }, at: { $ref: '#/$defs/point' } } },
      point: { type: 'object', properties: { x: { type: 'number' } } },
    },
  }
  assert.deepEqual(told(schema, { shape: { t: 'square' }, n: 'x' }), ['/n must be number'])
  assert.deepEqual(told(schema, { n: 'x', shape: 4 }).sort(), ['/n must be number', '/shape must be object'])
  assert.deepEqual(told(schema, { n: 'x', shape: { t: 'line' } }).sort(), [
    '/n must be number',
    '/shape must be one of its alternatives',
  ])
})

test('properties that every object inherits are none', () => {
  const schema = { type: 'object', properties: { constructor: { type: 'string' } }, required: ['toString'] }
  assert.deepEqual(told(schema, {}), ['/toString is required'])
  assert.ok(passes(schema, { toString: 1 }))
  assert.deepEqual(told(schema, { toString: 1, constructor: 2 }), ['/constructor must be string'])
})
