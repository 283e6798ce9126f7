import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from 'volant/client'
import { procedure, rest, router } from 'volant/procedures'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('procedures over REST, beside tRPC', () => {
  test('an optional input can be left out', async () => {
    const tree = router({
      things: router({
        listThings: procedure()
          .input(z.object({ q: z.string() }).optional())
          .query(({ input }) => ({ input: input ?? null })),
        createThing: procedure()
          .input(z.object({ name: z.string() }).optional())
          .mutation(({ input }) => ({ input: input ?? null })),
        deleteThings: procedure()
          .rest({ path: '/things' })
          .input(z.object({ q: z.string() }))
          .mutation(({ input }) => ({ input })),
      }),
    })
    const app = kit.app()
    const routes = rest(tree)
    app.register(routes)
    app.expose(routes.api)
    await kit.serve(app, async (live) => {
      const client = createClient<typeof routes.api>(live.address.url)
      const none = await client.things.listThings()
      assert.ok(none.ok)
      assert.deepEqual(none.data, { input: null })
      const one = await client.things.listThings({ query: { q: 'a' } })
      assert.ok(one.ok)
      assert.deepEqual(one.data, { input: { q: 'a' } })
      assert.equal((await live.ask('/things?p=1')).status, 400)
      const created = await client.things.createThing()
      assert.ok(created.ok)
      assert.deepEqual(created.data, { input: null })
      // @ts-expect-error -- this one has to be given
      assert.equal((await client.things.deleteThings()).status, 400)
    })
  })

  test('each kind of a union has its own members', async () => {
    const routes = rest(
      router({
        shapes: router({
          updateShape: procedure()
            .input(
              z.discriminatedUnion('kind', [
                z.object({ id: z.string(), kind: z.literal('circle'), radius: z.number() }),
                z.object({ id: z.string(), kind: z.literal('square'), side: z.number() }),
              ]),
            )
            .mutation(({ input }) => input),
        }),
      }),
    )
    const app = kit.app()
    app.register(routes)
    app.expose(routes.api)
    await kit.serve(app, async (live) => {
      const { shapes } = createClient<typeof routes.api>(live.address.url)
      const params = { id: 'a' }
      const circle = await shapes.updateShape({ params, body: { kind: 'circle', radius: 1 } })
      assert.ok(circle.ok)
      assert.deepEqual(circle.data, { id: 'a', kind: 'circle', radius: 1 })
      // @ts-expect-error -- a circle has no side
      assert.equal((await shapes.updateShape({ params, body: { kind: 'circle', side: 1 } })).status, 400)
    })
  })
})
