/** Schemas that are written as JSON Schema, without a library. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Schema, validate } from 'volant'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('plain JSON Schema', () => {
  test('a tree that another schema extends by $dynamicRef is checked at every depth', async () => {
    const tree = {
      $id: 'tree',
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { data: true, children: { type: 'array', items: { $dynamicRef: '#node' } } },
    }
    const strictTree = {
      $id: 'https://example.com/strict',
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: { tree },
    }
    const app = kit.app()
    app.post('/tree', { body: strictTree }, () => null)
    await kit.serve(app, async (live) => {
      const status = async (body: string) => (await live.post('/tree', 'application/json', body)).status
      assert.equal(await status('{"children":[{"data":1}]}'), 204)
      assert.equal(await status('{"daat":1}'), 400)
      assert.equal(await status('{"children":[{"children":[{"daat":1}]}]}'), 400)
    })
  })

  test('anchors that no $dynamicRef refers to do not hide faults after the first', async () => {
    const item = { $dynamicAnchor: 'node', type: 'number' }
    const app = kit.app()
    app.post('/list', { body: { type: 'object', properties: { a: item, b: item } } }, () => null)
    await kit.serve(app, async (live) => {
      const reply = await live.post('/list', 'application/json', '{"a":"x","b":"y"}')
      const { errors } = reply.json() as { errors: { pointer: string }[] }
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        ['#/a', '#/b'],
      )
    })
  })

  test('a library whose JSON Schema is rubbish checks and sends all the same', async () => {
    const rubbish: (() => unknown)[] = [
      () => ({ properties: 5 }),
      () => 'text',
      () => Promise.reject(new Error('none')),
      () => false,
    ]
    const app = kit.app({ undeclaredProperties: 'strip' })
    for (const [at, made] of rubbish.entries()) {
      const jsonSchema = { input: made, output: made }
      const validate = (value: unknown) => ({ value })
      const response = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema } }
      app.get(`/${at}`, { response: response as unknown as Schema }, () => ({ a: 1 }))
    }
    await kit.serve(app, async (live) => {
      for (const at of rubbish.keys()) assert.deepEqual((await live.ask(`/${at}`)).json(), { a: 1 })
    })
  })

  test('a definition has any name, and may be true or false', async () => {
    const names = ['User', 'Page<User>', '100%', 'a/b', 'x~y', 'ü', 'a#b', 'a b', '$x', 'a"b']
    const $defs = Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
    const properties = Object.fromEntries(
      names.map((name) => {
        const pointer = name.replaceAll('~', '~0').replaceAll('/', '~1')
        return [name, { $ref: `#/$defs/${encodeURIComponent(pointer)}` }]
      }),
    )
    const body = {
      $defs: { ...$defs, any: true, none: false },
      type: 'object',
      properties: { ...properties, any: { $ref: '#/$defs/any' }, none: { $ref: '#/$defs/none' } },
    } as unknown as Schema
    const app = kit.app({ undeclaredProperties: 'throw' })
    app.post('/x', { body, response: body }, (ctx) => ctx.body as object)
    await kit.serve(app, async (live) => {
      const ask = (value: object) => live.post('/x', 'application/json', JSON.stringify(value))
      for (const name of names) {
        assert.deepEqual((await ask({ [name]: 1, any: 'x' })).json(), { [name]: 1, any: 'x' })
        assert.equal((await ask({ [name]: 'x' })).status, 400, name)
      }
      assert.equal((await ask({ none: 1 })).status, 400)
    })
  })

  test('a mistake is refused with its route and its place', () => {
    const app = kit.app()
    const bad = (schema: object) => () => app.post('/x', { body: schema as Schema }, () => 1)
    assert.throws(bad({ type: 'object', properties: { a: { type: 'strin' } } }), {
      code: 'E_BAD_SCHEMA',
      message: /^\/x: body: #\/properties\/a\/type takes one or more of object/,
    })
    assert.throws(bad({ type: 'object', requried: ['a'] }), { message: /did you mean "required"/ })
    assert.throws(bad({ $ref: 'http://127.0.0.1:1/schema.json' }), { message: /nothing is loaded/ })
    assert.throws(
      () => app.get('/y', { response: { 200: { type: 'object', minProperties: -1 } } }, () => ({})),
      {
        message: /^GET \/y: response 200: #\/minProperties|\/y: response 200: #\/minProperties/,
      },
    )
  })

  test('names that objects inherit are no properties', async () => {
    const app = kit.app()
    const schema = {
      type: 'object',
      properties: { constructor: { type: 'string' } },
      required: ['valueOf'],
    } as const
    app.post('/x', { body: schema }, (ctx) => ctx.json(ctx.body))
    app.get('/q', { query: schema }, (ctx) => ctx.json({ ...ctx.query }))
    await kit.serve(app, async (live) => {
      assert.equal((await live.post('/x', 'application/json', '{}')).status, 400)
      assert.deepEqual((await live.post('/x', 'application/json', '{"valueOf":1}')).json(), { valueOf: 1 })
      assert.equal((await live.ask('/q')).status, 400)
      assert.deepEqual((await live.ask('/q?valueOf=1')).json(), { valueOf: '1' })
    })
  })

  test('defaults are put into a copy of what a middleware hands on', async () => {
    const held = Object.freeze({ a: 1 })
    const app = kit.app()
    const schema = { type: 'object', properties: { b: { type: 'integer', default: 2 } } } as const
    app
      .with((ctx, next) => {
        ctx.body = held
        return next()
      })
      .with(validate({ body: schema }))
      .post('/x', (ctx) => ctx.json(ctx.body))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.post('/x', 'application/json', '{}')).json(), { a: 1, b: 2 })
      assert.deepEqual(held, { a: 1 })
    })
  })

  test('a recursive body as deep as it may be, with alternatives on each level', async () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { kind: { const: name }, next: { $ref: '#/$defs/node' } },
      required: ['kind'],
    })
    const tree = { $ref: '#/$defs/node', $defs: { node: { anyOf: [branch('a'), branch('b')] } } }
    const app = kit.app()
    app.post('/x', { body: tree }, () => 'passed')
    let deep: object = {}
    for (let level = 1; level < 64; level++) deep = { kind: 'b', next: deep }
    await kit.serve(app, async (live) => {
      // Both alternatives fail on each level: to look for all faults would take 2^63 steps, which do not end.
      assert.equal((await live.post('/x', 'application/json', JSON.stringify(deep))).status, 400)
    })
  })
})
