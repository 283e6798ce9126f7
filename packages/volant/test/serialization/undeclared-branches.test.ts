/** Properties that several schemas of one value declare, or one of them. */
import { check, user } from './undeclared.ts'

check([
  [
    'all of',
    { allOf: [user, { properties: { age: {} }, additionalProperties: false }, { required: ['age'] }] },
    { id: 1, age: 2, x: 3 },
    { id: 1, age: 2 },
    '/x',
  ],
  [
    'all of, within one property',
    {
      allOf: [
        { properties: { p: { properties: { a: {} } } } },
        { properties: { p: { properties: { b: {} } } } },
      ],
    },
    { p: { a: 1, b: 2, c: 3 } },
    { p: { a: 1, b: 2 } },
    '/p/c',
  ],
  [
    'branches told apart by a constant',
    {
      oneOf: [
        { properties: { kind: { const: 'cat' }, lives: {} } },
        { properties: { kind: { const: 'dog' }, tricks: {} } },
      ],
    },
    { kind: 'dog', lives: 9, tricks: [] },
    { kind: 'dog', tricks: [] },
    '/lives',
  ],
  [
    'branches told apart by a constant that each requires',
    {
      anyOf: [
        { properties: { kind: { const: 'cat' }, lives: {} }, required: ['kind'] },
        { $ref: '#/$defs/dog' },
        { type: 'null' },
      ],
      $defs: {
        dog: {
          allOf: [{ properties: { kind: { enum: ['dog'] } } }, { required: ['kind'] }],
          oneOf: [
            { properties: { size: { const: 1 }, a: {} }, required: ['size'] },
            { properties: { size: { const: 2 }, b: {} }, required: ['size'] },
          ],
        },
      },
    },
    { kind: 'dog', size: 2, lives: 9, a: 1, b: 2 },
    { kind: 'dog', size: 2, b: 2 },
    '/lives',
  ],
  [
    'a constant that no branch has',
    {
      anyOf: [1, 2].map((kind) => ({
        properties: { kind: { const: kind }, [`of${kind}`]: {} },
        required: ['kind'],
      })),
    },
    { kind: 3, of1: 1, of2: 2, of3: 3 },
    { kind: 3, of1: 1, of2: 2 },
    '/of3',
  ],
  [
    'branches told apart by what is required',
    { anyOf: [{ ...user }, { properties: { error: {}, id: {} }, required: ['error'] }] },
    { id: 1, error: 'x' },
    { id: 1, error: 'x' },
    null,
  ],
  ['a branch that lets all through', { anyOf: [user, {}] }, { id: 1, x: 1 }, { id: 1, x: 1 }, null],
  ['a branch of another type', { anyOf: [user, { type: 'null' }] }, { id: 1, x: 1 }, { id: 1 }, '/x'],
  [
    'no branch that fits',
    { anyOf: [{ ...user, type: 'string' }, { type: 'null' }] },
    { x: 1 },
    { x: 1 },
    null,
  ],
  [
    'branches that only require',
    { ...user, anyOf: [{ required: ['id'] }, { required: ['name'] }] },
    { id: 1, x: 1 },
    { id: 1 },
    '/x',
  ],
  [
    'branches in branches',
    {
      anyOf: [
        { anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: {} }, required: ['b'] }] },
        { type: 'null' },
      ],
    },
    { a: 1, b: 2 },
    { b: 2 },
    '/a',
  ],
  [
    'one property in two branches',
    { anyOf: [{ properties: { p: {} } }, { properties: { p: { properties: { a: {} } } } }] },
    { p: { a: 1, b: 2 } },
    { p: { a: 1, b: 2 } },
    null,
  ],
  [
    'items in branches',
    {
      items: {
        anyOf: [
          { properties: { a: { type: 'number' } } },
          { properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      },
    },
    [
      { a: 1, x: 1 },
      { b: 1, x: 1 },
    ],
    [{ a: 1 }, { b: 1 }],
    '/0/x',
  ],
  [
    'if, then and else',
    {
      properties: { a: {} },
      if: { properties: { a: { const: 1 } } },
      // oxlint-disable-next-line unicorn/no-thenable -- the keyword
      then: { properties: { b: {} }, required: ['b'] },
      else: { properties: { c: {} }, required: ['c'] },
    },
    { a: 1, b: 2, x: 3 },
    { a: 1, b: 2 },
    '/x',
  ],
  [
    'dependent schemas',
    { properties: { a: {} }, dependentSchemas: { a: { properties: { b: {} } } } },
    { a: 1, b: 2, c: 3 },
    { a: 1, b: 2 },
    '/c',
  ],
  ['a nullable object', { ...user, type: ['object', 'null'] }, null, null, null],
  ['what JSON leaves out', user, { id: 1, f() {}, u: undefined, [Symbol('s')]: 1 }, { id: 1 }, null],
  ['a place with escapes', user, { 'a/b~c': 1 }, {}, '/a~1b~0c'],
  ['scalars', { type: 'string' }, 'text', 'text', null],
])
