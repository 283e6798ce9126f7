/** Which properties of a value are sent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { kit, reported, User } from './kit.ts'

describe('declared replies', () => {
  test('properties a schema does not name are not sent in production, and an error in development', async () => {
    const response = { 200: z.object({ user: User }), 201: z.object({ id: z.number() }) }
    const value = { user: { id: 1, name: 'a', hash: 'secret' } }
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      app.get('/nested', { response }, () => value)
      app.get('/imperative', { response }, (ctx) =>
        ctx.json({ id: 2, hash: 'secret' } as { id: number }, 201),
      )
      app.get('/rows', { response: z.array(User) }, () => [
        { id: 1, name: 'a' },
        { id: 2, name: 'b', hash: 'secret', salt: 'secret' },
        { id: 3, name: 'c', hash: 'secret', 'a/b': 'secret' },
      ])
      app.get('/open', { response: z.looseObject({ id: z.number() }) }, () => ({ id: 1, more: true }))
      app.get('/long', { response: User }, () => ({ id: 1, name: 'a', ['k'.repeat(9000)]: 1 }))
      app.get('/undeclared', () => value)
      await kit.serve(app, async (live) => {
        const nested = await live.ask('/nested')
        const imperative = await live.ask('/imperative')
        if (undeclaredProperties === 'strip') {
          assert.equal(nested.text, '{"user":{"id":1,"name":"a"}}')
          assert.equal(imperative.text, '{"id":2}')
        } else {
          assert.equal(nested.status, 500)
          assert.equal(imperative.status, 500)
          await live.ask('/nested')
          reported('E_RESPONSE_UNDECLARED', /does not declare #\/user\/hash: declare it, or leave it out; /)
          assert.equal((await live.ask('/rows')).status, 500)
          reported(
            'E_RESPONSE_UNDECLARED',
            /does not declare #\/1\/hash, #\/1\/salt, #\/2\/a~1b: declare them, or leave them out; in production they would not be sent$/,
          )
          assert.equal((await live.ask('/long')).status, 500)
          reported('E_RESPONSE_UNDECLARED', /does not declare #\/k{199}…: declare it/)
        }
        assert.deepEqual((await live.ask('/open')).json(), { id: 1, more: true })
        assert.deepEqual((await live.ask('/undeclared')).json(), value)
      })
    }
  })

  test('what a schema declares under a condition is sent where that holds', async () => {
    const dependent = {
      type: 'object',
      properties: { id: { type: 'integer' }, card: { type: 'string' } },
      dependentSchemas: { card: { properties: { holder: { type: 'string' } } } },
    } as const
    const older = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { id: { type: 'integer' }, card: { type: 'string' } },
      dependencies: { card: { properties: { holder: { type: 'string' } } } },
    } as const
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      for (const [name, response] of Object.entries({ dependent, older })) {
        app.get(`/${name}/with`, { response }, () => ({ id: 1, card: 'c', holder: 'h' }) as never)
        app.get(`/${name}/without`, { response }, () => ({ id: 1, holder: 'SECRET' }) as never)
      }
      await kit.serve(app, async (live) => {
        for (const name of ['dependent', 'older']) {
          assert.equal((await live.ask(`/${name}/with`)).text, '{"id":1,"card":"c","holder":"h"}')
          const without = await live.ask(`/${name}/without`)
          if (undeclaredProperties === 'strip') assert.equal(without.text, '{"id":1}')
          else {
            assert.equal(without.status, 500)
            reported('E_RESPONSE_UNDECLARED', /does not declare #\/holder: /)
          }
        }
      })
    }
  })

  test('an intersection with an object that lets others through sends them, in both modes', async () => {
    const closed = z.object({ a: z.number() })
    const open = z.looseObject({ b: z.number() })
    const sent: Record<string, z.ZodType> = {
      right: z.intersection(closed, open),
      left: open.and(closed),
      inside: z.intersection(z.intersection(closed, open), z.object({ c: z.number() })),
      union: closed.and(z.union([open, z.looseObject({ d: z.string() })])),
    }
    const value = { a: 1, b: 2, c: 3, more: 4 }
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      for (const [name, response] of Object.entries(sent)) app.get(`/${name}`, { response }, () => value)
      app.get('/closed', { response: closed.and(z.object({ b: z.number() })) }, () => value)
      await kit.serve(app, async (live) => {
        for (const name of Object.keys(sent)) {
          const reply = await live.ask(`/${name}`)
          assert.deepEqual([reply.status, reply.json()], [200, value], `${undeclaredProperties} ${name}`)
        }
        const reply = await live.ask('/closed')
        if (undeclaredProperties === 'strip') assert.deepEqual(reply.json(), { a: 1, b: 2 })
        else reported('E_RESPONSE_UNDECLARED', /does not declare #\/c, #\/more: /)
      })
    }
  })
})
