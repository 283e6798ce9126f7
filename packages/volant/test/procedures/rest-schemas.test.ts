/** Procedures with schemas of every library. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { type Problem } from 'volant'
import { caller, procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('procedures over REST', () => {
  test('procedures take schemas of every library', async () => {
    const inputs = {
      zod: z.object({ id: z.number(), on: z.boolean() }),
      valibot: v.object({ id: v.number(), on: v.boolean() }),
      arktype: type({ id: 'number', on: 'boolean' }),
      typebox: Type.Object({ id: Type.Number(), on: Type.Boolean() }),
      'JSON Schema': {
        type: 'object',
        properties: { id: { type: 'number' }, on: { type: 'boolean' } },
        required: ['id', 'on'],
      } as const,
    }
    for (const [library, input] of Object.entries(inputs)) {
      const things = router({
        things: router({
          getThing: procedure()
            .input(input as typeof inputs.zod)
            .output(input as typeof inputs.zod)
            .query((call) => call.input),
        }),
      })
      assert.deepEqual(
        await caller(things).things.getThing({ id: 1, on: true }),
        { id: 1, on: true },
        library,
      )
      await assert.rejects(
        caller(things).things.getThing({ id: '1' } as never),
        { code: 'E_VALIDATION' },
        library,
      )
      const app = kit.app()
      app.register(rest(things))
      app.register(trpc(things))
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/things/1?on=false')
        assert.deepEqual(reply.json(), { id: 1, on: false }, library)
        const wrong = (await live.ask('/things/x?on=1')).json() as Problem
        assert.deepEqual(
          wrong.errors?.map((issue) => `${issue.in} ${issue.pointer}`).toSorted(),
          ['params #/id', 'query #/on'],
          library,
        )
        const called = await live.ask(
          `/trpc/things.getThing?input=${encodeURIComponent('{"id":1,"on":true}')}`,
        )
        assert.deepEqual(called.json(), { result: { data: { id: 1, on: true } } }, library)
        assert.equal((await live.ask('/trpc/things.getThing?input={"id":"1"}')).status, 400, library)
      })
    }
    const typed = router({
      get: procedure()
        .input(inputs['JSON Schema'])
        .query(({ input }) => input.id),
    })
    const id: number = await caller(typed).get({ id: 1, on: true })
    assert.equal(id, 1)
    // @ts-expect-error -- a text is no id
    await assert.rejects(caller(typed).get({ id: '1', on: true }))
  })
})
