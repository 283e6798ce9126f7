/** What is told of a reply that its schema rejects: what the schema asks for, and nothing of the value. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import { issueSummary } from '../src/contract/response-issues.ts'

const secret = 'S3CRET'

function told(schema: StandardSchemaV1, value: unknown): string {
  const { vendor, validate } = schema['~standard']
  const result = validate(value) as StandardSchemaV1.Result<unknown>
  assert.ok(result.issues !== undefined, 'the schema takes the value')
  const text = issueSummary(result.issues, vendor)
  assert.doesNotMatch(text, /S3CRET/)
  return text
}

const cases: readonly [string, StandardSchemaV1, unknown, string][] = [
  ['a type', z.string(), 5, '#: expected string'],
  ['most', z.number().max(5), 6, '#: too_big, at most 5'],
  ['less', z.number().lt(5), 5, '#: too_big, less than 5'],
  ['more', z.number().gt(5), 5, '#: too_small, more than 5'],
  ['bigint', z.bigint().min(5n), 1n, '#: too_small, at least 5'],
  ['characters', z.string().min(9), secret, '#: too_small, at least 9 characters'],
  ['exactly', z.string().length(2), secret, '#: too_big, exactly 2 characters'],
  ['items', z.array(z.string()).max(0), [secret], '#: too_big, at most 0 items'],
  ['dates', z.date().max(new Date(0)), new Date(1), '#: too_big, at most 1970-01-01T00:00:00.000Z'],
  ['multiples', z.number().multipleOf(2), 3, '#: not_multiple_of, a multiple of 2'],
  ['a format', z.email(), secret, '#: invalid_format, email'],
  ['a pattern', z.string().regex(/^a/), secret, '#: invalid_format, regex "/^a/"'],
  ['a beginning', z.string().startsWith('x'), secret, '#: invalid_format, starts_with "x"'],
  ['a literal', z.literal('x'), secret, '#: invalid_value, expected "x"'],
  ['few values', z.enum(['a', 'b']), secret, '#: invalid_value, one of "a", "b"'],
  ['many values', z.literal([1, 2, 3, 4, 5, 6]), secret, '#: invalid_value, one of 6 values'],
  [
    'a union',
    z.union([z.string(), z.object({ a: z.number().max(5) })]),
    { a: secret },
    '#: invalid_union, expected string or #/a expected number',
  ],
  [
    'a discriminator',
    z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
    { t: secret },
    '#/t: invalid_union, one of "a", "b"',
  ],
  ['other keys', z.strictObject({}), { [secret]: 1 }, '#: unrecognized_keys'],
  [
    'a refinement',
    z.string().refine(() => false, { error: ({ input }) => `not ${input}` }),
    secret,
    '#: custom',
  ],
  [
    'what a check expected',
    z.string().superRefine((given, ctx) => {
      ctx.addIssue({ code: 'custom', expected: `not ${given}` } as never)
    }),
    secret,
    '#: custom',
  ],
  ['Valibot: a type', v.string(), 5, '#: expected string'],
  ['Valibot: a limit', v.pipe(v.number(), v.maxValue(5)), 6, '#: max_value, expected <=5'],
  ['Valibot: a format', v.pipe(v.string(), v.email()), secret, '#: email'],
  ['Valibot: values', v.picklist(['a', 'b']), secret, '#: expected ("a" | "b")'],
  [
    'Valibot: a check',
    v.pipe(
      v.string(),
      v.check(
        () => false,
        (issue) => `not ${issue.input}`,
      ),
    ),
    secret,
    '#: check',
  ],
  ['Valibot: absent', v.object({ a: v.string() }), {}, '#/a: not there'],
  ['Valibot: undefined', v.object({ a: v.string() }), { a: undefined }, '#/a: expected string'],
  ['Valibot: undeclared', v.strictObject({ a: v.string() }), { a: 'x', b: 1 }, '#/b: expected never'],
  [
    'Valibot: a key',
    v.record(v.picklist(['a', 'b']), v.number()),
    { c: 1 },
    '#/c: its name: expected ("a" | "b")',
  ],
  [
    'Valibot: rawCheck',
    v.pipe(
      v.string(),
      v.rawCheck(({ dataset, addIssue }) => {
        addIssue({ expected: `other than ${String(dataset.value)}` })
      }),
    ),
    secret,
    '#: raw_check',
  ],
  ['ArkType: a limit', type('number<=5'), 6, '#: expected at most 5'],
  ['ArkType: a format', type('string.email'), secret, '#: expected an email address'],
  ['ArkType: values', type("'a'|'b'"), secret, '#: expected "a" or "b"'],
  ['ArkType: both', type('string.email>=50'), secret, '#: expected an email address and at least length 50'],
  ['ArkType: absent', type({ a: 'string' }), {}, '#/a: expected a string'],
  [
    'ArkType: mustBe',
    type('string').narrow((s, ctx) => ctx.mustBe(`not ${s}`)),
    secret,
    '#: fails its predicate',
  ],
  [
    'ArkType: reject with a description',
    type('string').narrow((s, ctx) => ctx.reject({ description: `other than ${s}` } as never)),
    secret,
    '#: fails its predicate',
  ],
  [
    'ArkType: reject with a rule',
    type('string').narrow((s, ctx) => ctx.reject({ code: 'pattern', rule: s })),
    secret,
    '#: pattern',
  ],
  [
    'ArkType: a described check',
    type('string')
      .narrow((s) => s !== secret)
      .describe('a good word'),
    secret,
    '#: expected a good word',
  ],
  ['ArkType: kinds', type({ n: 'number|boolean' }), { n: secret }, '#/n: expected a number or boolean'],
  [
    'ArkType: a discriminator',
    type({ k: "'a'", x: '1' }).or({ k: "'b'", y: '2' }),
    { k: secret },
    '#/k: expected "a" or "b"',
  ],
  ['ArkType: undeclared', type({ a: 'string', '+': 'reject' }), { a: 'x', q: 1 }, '#/q: expected removed'],
  [
    'ArkType: a union of objects',
    type({ a: 'string' }).or({ b: 'number' }),
    { c: secret },
    '#: fails its union: #/a expected a string or #/b expected a number',
  ],
  [
    'ArkType: a union inside',
    type({ in: type({ a: 'string' }).or({ b: 'number' }) }),
    { in: { b: secret } },
    '#/in: fails its union: #/in/a expected a string or #/in/b expected a number',
  ],
]

describe('what a reply should have been', () => {
  for (const [title, schema, value, expected] of cases) {
    test(title, () => assert.equal(told(schema, value), expected))
  }

  test('whatever a schema gives for an issue', () => {
    for (const vendor of ['zod', 'valibot', 'arktype', 'ajv', 'own']) {
      for (const issue of [
        null,
        'x',
        {},
        { code: 'union', errors: [null, 1] },
        { code: 'invalid_union', errors: [null, [null]] },
      ])
        assert.match(issueSummary([issue as never], vendor), /^#: /)
      const limits = { code: 'too_big', maximum: { secret }, origin: '__proto__' }
      assert.equal(issueSummary([limits as never], vendor).includes('object'), false)
    }
  })
})
