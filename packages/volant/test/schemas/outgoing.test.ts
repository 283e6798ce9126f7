/** What of a reply is sent, whatever its schema is made with. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import type { App, Schema } from 'volant'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

/** The same object, strict: what it does not name is refused by the library itself. */
const strict: Readonly<Record<string, unknown>> = {
  zod: z.strictObject({ id: z.number(), in: z.array(z.strictObject({ a: z.string() })) }),
  'zod in a union': z.union([
    z.strictObject({ key: z.string() }),
    z.strictObject({ id: z.number(), in: z.array(z.strictObject({ a: z.string() })) }),
  ]),
  valibot: v.strictObject({ id: v.number(), in: v.array(v.strictObject({ a: v.string() })) }),
  arktype: type({ '+': 'reject', id: 'number', in: type({ '+': 'reject', a: 'string' }).array() }),
  typebox: Type.Object(
    { id: Type.Number(), in: Type.Array(Type.Object({ a: Type.String() }, { additionalProperties: false })) },
    { additionalProperties: false },
  ),
  'JSON Schema': {
    type: 'object',
    properties: {
      id: { type: 'number' },
      in: {
        type: 'array',
        items: { type: 'object', properties: { a: { type: 'string' } }, unevaluatedProperties: false },
      },
    },
    unevaluatedProperties: false,
    required: ['id', 'in'],
  },
}

/** Schemas of `{ a: string }` that hand on whole what they are given. */
const passedOn: Readonly<Record<string, unknown>> = {
  'an intersection of Zod': z.object({ a: z.string() }).and(z.custom(() => true)),
  'an intersection of Zod, deep': z.object({
    a: z.string(),
    in: z.object({ a: z.string() }).and(z.custom(() => true)),
  }),
  'an intersection of Valibot': v.intersect([v.object({ a: v.string() }), v.looseObject({})]),
  'a pipe of ArkType': type({ a: 'string', 'in?': { a: 'string' } }).pipe((given) => given),
  'a pipe of ArkType, deep': type({ a: 'string', in: type({ a: 'string' }).pipe((given) => given) }),
}

describe('what goes out, whatever the schema', () => {
  const give = (schema: unknown, given: unknown, mode: 'strip' | 'throw'): App => {
    const app = kit.app({ undeclaredProperties: mode })
    app.get('/x', { response: schema as Schema }, () => given)
    return app
  }
  const report = () => kit.reports.at(-1) as { code: string; message: string }

  for (const [name, schema] of Object.entries(strict)) {
    test(`a strict object of ${name}: left out in production, told in development`, async () => {
      const given = { id: 1, in: [{ a: 'x', SECRET: 1 }], SECRET: { at: 1 } }
      await kit.serve(give(schema, given, 'strip'), async (live) => {
        assert.deepEqual((await live.ask('/x')).json(), { id: 1, in: [{ a: 'x' }] })
      })
      await kit.serve(give(schema, given, 'throw'), async (live) => {
        assert.equal((await live.ask('/x')).status, 500)
        assert.equal(report().code, 'E_RESPONSE_UNDECLARED')
      })
    })
  }

  for (const [name, schema] of Object.entries(passedOn)) {
    test(`${name} sends no more than was declared`, async () => {
      const given = { a: 'x', in: { a: 'y', SECRET: 1 }, SECRET: 1 }
      await kit.serve(give(schema, given, 'strip'), async (live) => {
        const { status, text } = await live.ask('/x')
        assert.deepEqual([status, text.includes('SECRET')], [200, false], text)
        assert.ok(text.includes('"a":"x"'), text)
      })
    })
  }

  const properties = { id: { type: 'number' }, name: { type: 'string' } }
  const user = { type: 'object', properties, required: ['id', 'name'] }
  const closed = { ...user, additionalProperties: false }
  const users: Readonly<Record<string, unknown>> = {
    'plain JSON Schema': user,
    'plain JSON Schema that is closed': closed,
    typebox: Type.Object({ id: Type.Number(), name: Type.String() }),
    arktype: type({ id: 'number', name: 'string' }),
  }
  for (const [name, schema] of Object.entries(users)) {
    test(`${name} is asked about what toJSON makes, and that is sent`, async () => {
      class Entity {
        readonly #made: unknown
        readonly id = 1
        readonly name = 'a'
        constructor(made: unknown) {
          this.#made = made
        }
        toJSON(): unknown {
          return this.#made
        }
      }
      for (const mode of ['strip', 'throw'] as const) {
        await kit.serve(give(schema, new Entity({ id: 2, name: 'b' }), mode), async (live) => {
          assert.deepEqual((await live.ask('/x')).json(), { id: 2, name: 'b' })
        })
        await kit.serve(give(schema, new Entity({ id: 2, name: { ssn: 'SECRET' } }), mode), async (live) => {
          const reply = await live.ask('/x')
          assert.deepEqual([reply.status, reply.text.includes('SECRET')], [500, false])
          assert.equal(report().code, 'E_RESPONSE_INVALID')
        })
      }
    })
  }

  test('getters of a class are not sent, so plain JSON Schema does not see them', async () => {
    class Row {
      readonly name = 'a'
      get id(): number {
        return 1
      }
    }
    await kit.serve(give(user, new Row(), 'strip'), async (live) => {
      assert.equal((await live.ask('/x')).status, 500)
      assert.match(report().message, /#\/id: is required/)
    })
  })

  test('plain JSON Schema sees what JSON writes: dates as text, NaN as null, nothing where there is nothing', async () => {
    const schema = {
      type: 'object',
      properties: {
        at: { type: 'string', format: 'date-time' },
        n: { type: ['number', 'null'] },
        gone: { type: 'string' },
        list: { type: 'array', items: { type: ['string', 'null'] } },
        boxed: { type: 'string' },
      },
      required: ['at', 'n'],
      additionalProperties: false,
    }
    const at = new Date(0)
    const given = { at, n: Number.NaN, gone: undefined, list: [undefined, 'x'], boxed: Object('s') as string }
    for (const mode of ['strip', 'throw'] as const) {
      await kit.serve(give(schema, { ...given, no: undefined, f: () => 1 }, mode), async (live) => {
        const sent = { at: at.toISOString(), n: null, list: [null, 'x'], boxed: 's' }
        assert.deepEqual((await live.ask('/x')).json(), sent)
      })
    }
    await kit.serve(give({ type: 'number' }, Number.NaN, 'strip'), async (live) => {
      assert.equal((await live.ask('/x')).status, 500)
      assert.equal(report().code, 'E_RESPONSE_INVALID')
    })
  })

  const One: Readonly<Record<string, unknown>> = {
    zod: z.object({ a: z.number() }),
    valibot: v.object({ a: v.number() }),
    arktype: type({ a: 'number' }),
    typebox: Type.Object({ a: Type.Number() }),
    'plain JSON Schema': { type: 'object', properties: { a: { type: 'number' } } },
    'strict JSON Schema': {
      type: 'object',
      properties: { a: { type: 'number' } },
      additionalProperties: false,
    },
  }
  for (const [name, schema] of Object.entries(One)) {
    test(`${name}: what JSON cannot say is of no concern where it is not declared`, async () => {
      const cycle: Record<string, unknown> = { a: 1 }
      cycle['self'] = { list: [cycle] }
      let deep: object = {}
      for (let level = 0; level < 100_000; level++) deep = { next: deep }
      for (const value of [cycle, { a: 1, zz: 10n }, { a: 1, deep }]) {
        await kit.serve(give(schema, value, 'strip'), async (live) => {
          const reply = await live.ask('/x')
          assert.deepEqual([reply.status, reply.text], [200, '{"a":1}'])
        })
        await kit.serve(give(schema, value, 'throw'), async (live) => {
          assert.equal((await live.ask('/x')).status, 500)
          assert.equal(report().code, 'E_RESPONSE_UNDECLARED')
        })
      }
    })
  }

  const Node: z.ZodType = z.object({
    get next() {
      return z.optional(Node)
    },
  })
  const recursive: Readonly<Record<string, unknown>> = {
    zod: Node,
    'plain JSON Schema': { type: 'object', properties: { next: { $ref: '#' } } },
    'plain JSON Schema that says nothing': { type: 'object' },
  }
  for (const [name, schema] of Object.entries(recursive)) {
    test(`${name}: a cycle, a bigint and what is too deep are told with their place`, async () => {
      const cycle: Record<string, unknown> = {}
      cycle['next'] = { next: cycle }
      let deep: object = {}
      for (let level = 0; level < 100_000; level++) deep = { next: deep }
      for (const mode of ['strip', 'throw'] as const) {
        await kit.serve(give(schema, cycle, mode), async (live) => {
          assert.equal((await live.ask('/x')).status, 500)
          assert.equal(report().code, 'E_NOT_SERIALISABLE')
          assert.match(report().message, /a cycle at next\.next/)
        })
        await kit.serve(give(schema, deep, mode), async (live) => {
          assert.equal((await live.ask('/x')).status, 500)
          assert.equal(report().code, 'E_NOT_SERIALISABLE')
          assert.match(report().message, /nested too deeply/)
        })
      }
      if (name === 'zod') return
      await kit.serve(give(schema, { next: 1n }, 'strip'), async (live) => {
        assert.equal((await live.ask('/x')).status, 500)
        assert.match(report().message, /a BigInt at next/)
      })
    })
  }
})
