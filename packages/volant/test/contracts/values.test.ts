/** A value that a handler gives is checked against the schema of its reply. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import * as z from 'zod'
import { kit, reported, User } from './kit.ts'

describe('declared replies', () => {
  test('a returned value is checked, and what the schema makes of it is sent', async () => {
    const app = kit.app()
    const response = z.object({
      at: z.date().transform((at) => at.getTime()),
      name: z.string().default('none'),
    })
    app.get('/now', { response }, () => ({ at: new Date(5) }))
    app.get('/later', { response }, async () => ({ at: new Date(6), name: 'x' }))
    app.get('/text', { response: z.string() }, () => 'plain')
    app.get('/list', { response: z.array(User) }, () => [{ id: 1, name: 'a' }])
    app.get('/null', { response: User.nullable() }, () => null)
    app.get('/number', { response: z.number() }, () => 5)
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/now')).json(), { at: 5, name: 'none' })
      assert.deepEqual((await live.ask('/later')).json(), { at: 6, name: 'x' })
      const text = await live.ask('/text')
      assert.equal(text.text, 'plain')
      assert.equal(text.headers['content-type'], 'text/plain; charset=utf-8')
      assert.deepEqual((await live.ask('/list')).json(), [{ id: 1, name: 'a' }])
      const none = await live.ask('/null')
      assert.equal(none.status, 200)
      assert.equal(none.text, 'null')
      assert.equal((await live.ask('/number')).text, '5')
    })
  })

  test('a value the schema rejects is 500, told without the value', async () => {
    const app = kit.app()
    app.get('/zod', { response: User }, () => ({ id: 1, name: 7070 }) as never)
    app.get('/valibot', { response: v.object({ name: v.pipe(v.string(), v.email()) }) }, () => ({
      name: 'secret',
    }))
    app.get('/limits', { response: z.object({ n: z.number().max(5), e: z.email() }) }, () => ({
      n: 7070,
      e: 'secret',
    }))
    app.get('/ark', { response: type({ n: 'number<=5', k: "'a'|'b'" }) }, () => ({
      n: 7070,
      k: 'secret' as 'a',
    }))
    app.get('/later', { response: User }, async () => 'secret' as never)
    app.get('/nothing', { response: User }, () => undefined as never)
    app.get('/json', { response: User }, (ctx) => ctx.json({ id: 'secret' } as never))
    app.get('/bad', { response: User }, (ctx) => ctx.reply(200, { id: 'secret' } as never))
    await kit.serve(app, async (live) => {
      for (const [path, code, message] of [
        [
          '/zod',
          'E_RESPONSE_INVALID',
          /^the reply of GET \/zod with status 200 is not what its schema says: #\/name: /,
        ],
        ['/valibot', 'E_RESPONSE_INVALID', /#\/name: email$/],
        ['/limits', 'E_RESPONSE_INVALID', /#\/n: too_big, at most 5; #\/e: invalid_format, email$/],
        ['/ark', 'E_RESPONSE_INVALID', /#\/k: expected "a" or "b"; #\/n: expected at most 5$/],
        ['/later', 'E_RESPONSE_INVALID', /: #: /],
        [
          '/nothing',
          'E_RESPONSE_STATUS',
          /^GET \/nothing declares a value for status 200 and replied with none$/,
        ],
        ['/json', 'E_RESPONSE_INVALID', /#\/id: /],
        ['/bad', 'E_RESPONSE_INVALID', /#\/id: /],
      ] as const) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 500, path)
        assert.deepEqual(reply.json(), { type: 'about:blank', title: 'Internal Server Error', status: 500 })
        reported(code, message)
        assert.doesNotMatch(String(kit.reports.at(-1)), /secret|7070/, path)
      }
    })
  })

  test('asynchronous schemas are waited for where a value is returned', async () => {
    const app = kit.app()
    const response = z.object({ id: z.number().refine(async (id) => id > 0) })
    app.get('/good', { response }, () => ({ id: 1 }))
    app.get('/wrong', { response }, async () => ({ id: 0 }))
    app.get('/json', { response }, (ctx) => ctx.json({ id: 1 }))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/good')).json(), { id: 1 })
      assert.equal((await live.ask('/wrong')).status, 500)
      reported('E_RESPONSE_INVALID', /#\/id/)
      assert.equal((await live.ask('/json')).status, 500)
    })
  })

  test('what a schema says of a value does not reach the reports with it', async () => {
    const app = kit.app()
    const quoting = z.string().refine(() => false, { error: ({ input }) => `bad ${String(input)}` })
    app.get('/quoting', { response: quoting }, () => 'secret')
    const rubbish = (issues: unknown): z.ZodType<string> =>
      ({ '~standard': { version: 1, vendor: 'x', validate: () => ({ issues }) } }) as never
    app.get('/rubbish', { response: rubbish([null, { path: 5, message: 'secret' }]) }, () => 'secret')
    await kit.serve(app, async (live) => {
      for (const path of ['/quoting', '/rubbish']) {
        assert.equal((await live.ask(path)).status, 500)
        reported('E_RESPONSE_INVALID', /#: /)
        assert.doesNotMatch(String(kit.reports.at(-1)), /secret/)
      }
    })
  })

  test('a schema that every value passes is one where it is meant', async () => {
    const app = kit.app()
    const value = { any: ['thing', 1, null] }
    const json = { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] } as const
    for (const [name, schema] of Object.entries({ zod: z.unknown(), typebox: Type.Unknown(), json }))
      app.post(`/${name}`, { body: schema, response: schema }, (ctx) => ctx.body as never)
    await kit.serve(app, async (live) => {
      for (const path of ['/zod', '/typebox', '/json']) {
        const reply = await live.post(path, 'application/json', JSON.stringify(value))
        assert.deepEqual([reply.status, reply.json()], [200, value], path)
      }
    })
  })
})
