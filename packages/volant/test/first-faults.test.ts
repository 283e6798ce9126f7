/** A body that is wrong in hundreds of thousands of places costs its schema about what one does that is right. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type } from 'arktype'
import * as v from 'valibot'
import * as z from 'zod'
import * as mini from 'zod/mini'
import { standardOf } from '../src/schema/standard.ts'

type Issues = readonly StandardSchemaV1.Issue[] | undefined

const check = async (schema: unknown, value: unknown): Promise<StandardSchemaV1.Result<unknown>> =>
  standardOf(schema, 'test').validate(value)

/** Repeats an item until there is a megabyte of JSON. */
const megabyte = (item: unknown): unknown[] =>
  Array.from({ length: Math.floor(1_048_576 / (JSON.stringify(item).length + 1)) }, () => item)

let told = 0
const error = (): string => {
  told++
  return 'told'
}

/** Libraries with what they take: a list of texts, one of objects, and a list inside of an object. */
const libraries: Record<string, { texts: unknown; objects: unknown; rows: unknown }> = {
  zod: {
    texts: z.array(z.string({ error })),
    objects: z.array(z.object({ a: z.string({ error }), b: z.number({ error }) }, { error })),
    rows: z.object({ rows: z.array(z.union([z.string(), z.boolean()], { error })) }),
  },
  'zod/mini': {
    texts: mini.array(mini.string({ error })),
    objects: mini.array(mini.object({ a: mini.string({ error }), b: mini.number({ error }) }, { error })),
    rows: mini.object({ rows: mini.array(mini.union([mini.string(), mini.boolean()], { error })) }),
  },
  valibot: {
    texts: v.array(v.string(error)),
    objects: v.array(v.object({ a: v.string(error), b: v.number(error) }, error)),
    rows: v.object({ rows: v.array(v.union([v.string(), v.boolean()], error)) }),
  },
  arktype: {
    texts: type('string[]'),
    objects: type({ a: 'string', b: 'number' }).array(),
    rows: type({ rows: '(string | boolean)[]' }),
  },
}

for (const [name, { texts, objects, rows }] of Object.entries(libraries)) {
  test(`${name}: of a large value the first faults are told, and no more are looked for`, async () => {
    for (const [schema, value, first] of [
      [texts, megabyte(1), [0]],
      [objects, megabyte({}), [0, 'a']],
      [objects, [...megabyte({ a: 'x', b: 1 }), 1], undefined],
      [rows, { rows: megabyte(1) }, ['rows', 0]],
    ] as const) {
      told = 0
      const { issues } = await check(schema, value)
      assert.ok(issues !== undefined && issues.length > 0 && issues.length <= 100, `${issues?.length} issues`)
      assert.ok(told <= 101, `${told} messages made`)
      const path = [...(issues[0]?.path ?? [])].map((each) => (typeof each === 'object' ? each.key : each))
      if (first !== undefined) assert.deepEqual(path, first)
      assert.match(issues[0]?.message as string, /told|must be/)
    }
  })

  test(`${name}: of any other value all faults are told, as the library tells them`, async () => {
    for (const [schema, value] of [
      [texts, Array.from({ length: 100 }, () => 1)],
      [objects, [{}, 1, { a: 1 }]],
      [rows, { rows: [1, 'x', 2] }],
      [rows, 5],
    ] as const) {
      const own = await (schema as StandardSchemaV1)['~standard'].validate(value)
      const tell = (all: Issues): unknown =>
        all?.map(({ path, message }) => [
          path?.map((each) => (typeof each === 'object' ? each.key : each)),
          message,
        ])
      const { issues } = await check(schema, value)
      assert.ok(issues !== undefined)
      assert.deepEqual(tell(issues), tell(own.issues))
    }
  })

  test(`${name}: what fits is given as the library gives it, however large it is`, async () => {
    for (const [schema, value] of [
      [texts, megabyte('a')],
      [objects, megabyte({ a: 'x', b: 1 })],
      [rows, { rows: ['a', true] }],
    ] as const) {
      const result = await check(schema, value)
      assert.deepEqual('value' in result && result.value, value)
    }
  })
}

test('faults that do not end the check of a member are counted, too', async () => {
  told = 0
  const short = z.array(z.string().min(5, { error }))
  assert.equal((await check(short, megabyte(''))).issues?.length, 100)
  assert.equal(told, 100)
  const text = v.pipe(v.string(), v.minLength(5), v.email())
  assert.ok(((await check(v.array(text), megabyte(''))).issues?.length as number) <= 2)
})

test('more faults in one list than a call has arguments are no fault of the server', async () => {
  const nested = z.array(z.array(z.string().min(5)))
  const value = [Array.from({ length: 200_000 }, () => '')]
  const { issues } = await check(nested, value)
  assert.deepEqual(issues, [{ message: 'has too many faults to name one of them' }])
  const later = z.array(z.array(z.string().min(5)).refine(async () => true))
  for (let time = 0; time < 2; time++) {
    assert.deepEqual((await check(later, value)).issues, issues)
  }
  assert.deepEqual(await check(nested, [['abcde']]), { value: [['abcde']] })
})

test('a check of the app that overflows the stack by itself is a fault of the server', async () => {
  const forever = (): boolean => forever() && forever()
  await assert.rejects(async () => check(z.string().refine(forever), 'a'), RangeError)
})

test('asynchronous schemas are waited for, and are asked for the first faults alone', async () => {
  const zod = z.array(z.string({ error }).refine(async (text) => text !== 'bad'))
  const valibot = v.arrayAsync(
    v.pipeAsync(
      v.string(error),
      v.checkAsync(async (text) => text !== 'bad'),
    ),
  )
  for (const [schema, wrong] of [
    [zod, megabyte(1)],
    // It asks all its items at once.
    [valibot, Array.from({ length: 1_000 }, () => 1)],
  ] as const) {
    for (let time = 0; time < 2; time++) {
      assert.deepEqual(await check(schema, ['a']).then((result) => 'value' in result && result.value), ['a'])
      assert.equal((await check(schema, ['bad', 'a', 'bad'])).issues?.length, 2)
      const { issues } = await check(schema, wrong)
      assert.ok(issues !== undefined && issues.length > 0 && issues.length <= 100, `${issues?.length} issues`)
    }
  }
})

test('text of a request is held to it as well', async () => {
  const words = Array.from({ length: 900 }, () => 'x')
  const schemas = [
    z.object({ n: z.array(z.literal('y', { error })) }),
    v.object({ n: v.array(v.literal('y', error)) }),
    type({ n: "'y'[]" }),
  ]
  for (const schema of schemas) {
    told = 0
    const { issues } = await standardOf(schema, 'test', 'text').validate({ n: words })
    assert.ok(issues !== undefined && issues.length > 0 && issues.length <= 100)
    assert.ok(told <= 101, `${told} messages made`)
    const one = await standardOf(schema, 'test', 'text').validate({ n: 'y' })
    assert.deepEqual('value' in one && (one.value as { n: unknown }).n, ['y'])
  }
})

test('transforms of ArkType run, and their faults are counted', async () => {
  const json = type('string.json.parse[]')
  assert.equal((await check(json, megabyte('{'))).issues?.length, 100)
  const numbers = type({ n: 'string.integer.parse[]', with: 'string = "x"', '+': 'delete' })
  const given = { n: Array.from({ length: 300 }, (_, at) => String(at)), more: 1 }
  const made = { n: Array.from({ length: 300 }, (_, at) => at), with: 'x' }
  assert.deepEqual(await check(numbers, given), { value: made })
  assert.equal(given.n[5], '5')
})

test('a Zod schema of a copy that cannot be made is its own', async () => {
  const schema = z.array(z.string())
  const bare = { '~standard': schema['~standard'], _zod: schema._zod }
  assert.equal(standardOf(bare, 'test'), schema['~standard'])
})
