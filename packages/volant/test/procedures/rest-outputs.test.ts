import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink } from '@trpc/client'
import { Type } from 'typebox'
import { createClient } from 'volant/client'
import { caller, procedure, rest, router } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const same = <_T extends true>(): void => {}

const kit = new Kit()

describe('procedures over REST, beside tRPC', () => {
  test('an output that may be nothing is 204, and is in the document', async () => {
    const tree = router({
      things: router({
        getVoid: procedure()
          .output(z.void())
          .query(() => {}),
        createVoid: procedure()
          .output(z.undefined())
          .mutation(() => undefined),
        getMaybe: procedure()
          .input(z.object({ id: z.string() }))
          .output(z.object({ n: z.number() }).optional())
          .query(({ input }) => (input.id === 'none' ? undefined : { n: 1 })),
        patchDefault: procedure()
          .output(z.string().default('none'))
          .mutation(() => undefined),
        deleteMissing: procedure()
          .output(z.string())
          .mutation(() => undefined as never),
        updateThing: procedure()
          .output(Type.Object({ n: Type.Number() }))
          .rest({ path: '/typebox', method: 'GET' })
          .mutation(() => undefined as never),
      }),
    })
    const app = kit.app()
    const routes = rest(tree)
    app.register(routes)
    app.register(trpc(tree))
    app.expose(routes.api)
    const repliesOf = (path: string, method: string) =>
      Object.keys(
        app.routes().find((route) => route.path === path && route.method === method)?.responses ?? {},
      )
    assert.deepEqual(repliesOf('/things', 'GET'), ['204'])
    assert.deepEqual(repliesOf('/things', 'POST'), ['204'])
    assert.deepEqual(repliesOf('/things/:id', 'GET'), ['200', '204'])
    await kit.serve(app, async (live) => {
      const status = async (path: string, method = 'GET') => (await live.ask(path, { method })).status
      assert.equal(await status('/things'), 204)
      assert.equal(await status('/trpc/things.getVoid'), 200)
      assert.equal(await status('/things', 'POST'), 204)
      assert.equal(await status('/things/none'), 204)
      assert.equal(await status('/things/some'), 200)
      const made = await live.ask('/things', { method: 'PATCH' })
      assert.deepEqual([made.status, made.text], [200, 'none'])
      assert.equal(await status('/things', 'DELETE'), 500)
      assert.equal(await status('/typebox'), 500)

      const client = createClient<typeof routes.api>(live.address.url)
      const nothing = await client.things.getMaybe({ params: { id: 'none' } })
      type Good = Extract<typeof nothing, { ok: true }>
      same<Same<Good['status'], 200 | 204>>()
      same<Same<Extract<Good, { status: 200 }>['data'], { n: number }>>()
      assert.equal(nothing.status, 204)
    })
    const route = app.routes().find(({ operationId }) => operationId === 'things.getMaybe')
    assert.deepEqual(Object.keys(route?.responses ?? {}), ['200', '204'])
  })

  test('an output that may be nothing is 204 also where nobody asks for the routes', async () => {
    const maybe = procedure().output(z.object({ n: z.number() }).optional())
    const routes = rest(router({ things: router({ getThing: maybe.query(() => undefined) }) }))
    const app = kit.app()
    const other = kit.app()
    app.register(routes)
    other.register(routes)
    await kit.serve(app, async (live) => assert.equal((await live.ask('/things')).status, 204))
    await kit.serve(other, async (live) => assert.equal((await live.ask('/things')).status, 204))
    const later = kit.app()
    later.register(routes)
    await kit.serve(later, async (live) => assert.equal((await live.ask('/things')).status, 204))
  })

  test('a status of 204 says that there is no value, to types as well', () => {
    const routes = rest(
      router({
        things: router({
          createThing: procedure()
            .rest({ status: 204 })
            .mutation(() => 7),
          getCount: procedure().query((): number | undefined => 7),
        }),
      }),
    )
    type API = typeof routes.api
    type Results<K extends keyof API['things']> = Extract<
      NonNullable<API['things'][K]['call']>['results'],
      { ok: true }
    >
    same<Same<Results<'createThing'>['status'], 204>>()
    same<Same<Results<'createThing'>['data'], undefined>>()
    same<Same<Results<'getCount'>['status'], 200 | 204>>()
    same<Same<Extract<Results<'getCount'>, { status: 200 }>['data'], number>>()
    same<Same<Extract<Results<'getCount'>, { status: 204 }>['data'], undefined>>()
  })

  test('an output of null is no content, over every transport', async () => {
    const gives = (value: unknown) => () => value as undefined
    const tree = router({
      books: router({
        deleteBook: procedure()
          .input(z.object({ id: z.string() }))
          .output(null)
          .errors({ GONE: { status: 410 } })
          .mutation(async ({ input, ctx }) => {
            if (input.id === 'gone') throw ctx.fail('GONE')
          }),
        createBook: procedure().output(null).mutation(gives(undefined)),
        listBooks: procedure().output(null).query(gives([])),
        getBook: procedure().rest({ path: '/null' }).output(null).query(gives(null)),
      }),
    })
    const app = kit.app({ report: () => {} })
    const routes = rest(tree)
    app.register(routes).register(trpc(tree))
    app.expose(routes.api)
    for (const { operationId = '', responses } of app.routes().filter((route) => route.operationId)) {
      assert.deepEqual(responses, { 204: null }, operationId)
    }
    await kit.serve(app, async (live) => {
      const asked = async (path: string, method = 'GET') => {
        const { status, text } = await live.ask(path, { method })
        return [status, text]
      }
      assert.deepEqual(await asked('/books/1', 'DELETE'), [204, ''])
      assert.deepEqual(await asked('/books', 'POST'), [204, ''])
      assert.equal((await asked('/books/gone', 'DELETE'))[0], 410)
      assert.equal((await asked('/books'))[0], 500)
      assert.equal((await asked('/null'))[0], 500)
      assert.equal((await asked('/trpc/books.listBooks'))[0], 500)

      const { url } = live.address
      const headers = { 'content-type': 'application/json' }
      const single = await live.ask('/trpc/books.createBook', { method: 'POST', headers })
      assert.deepEqual([single.status, single.text], [200, '{"result":{}}'])
      for (const link of [httpLink, httpBatchLink, httpBatchStreamLink] as const) {
        const client = createTRPCClient<TRPCRouterOf<typeof tree>>({
          links: [link({ url: `${url}/trpc` })],
        })
        const nothing = await client.books.deleteBook.mutate({ id: '1' })
        same<Same<typeof nothing, undefined>>()
        assert.equal(nothing, undefined)
      }
      const deleted = await createClient<typeof routes.api>(url).books.deleteBook({ params: { id: '1' } })
      type Good = Extract<typeof deleted, { ok: true }>
      same<Same<[Good['status'], Good['data']], [204, undefined]>>()
      assert.equal(deleted.status, 204)
    })
    const nothing = await caller(tree).books.deleteBook({ id: '1' })
    same<Same<typeof nothing, undefined>>()
    assert.equal(nothing, undefined)
    await assert.rejects(caller(tree).books.listBooks(), {
      code: 'E_RESPONSE_INVALID',
      message: /books\.listBooks has output\(null\)/,
    })
    procedure()
      .output(null)
      // @ts-expect-error -- it gives nothing
      .query(() => 1)
    const empty = procedure().output(null)
    assert.throws(() => empty.output(z.string()), { code: 'E_BAD_OPTION', message: /one output schema/ })
    assert.throws(() => empty.subscription(async function* () {}), { code: 'E_BAD_OPTION' })
    assert.throws(() => empty.rest({ status: 201 }).mutation(() => {}), {
      code: 'E_BAD_OPTION',
      message: /204 over REST, not 201/,
    })
    empty.rest({ status: 204 }).mutation(() => {})
  })
})

/** Compiles only if both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
