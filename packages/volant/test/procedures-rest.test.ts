import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink } from '@trpc/client'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { createClient } from 'volant/client'
import { caller, procedure, type ProcedureTree, rest, router } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { Kit } from './kit.ts'

/** Compiles only if both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
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

  const byId = <P extends string>(parent: P) =>
    procedure()
      .input(z.object({ [parent]: z.string(), id: z.string() } as { [K in P | 'id']: z.ZodString }))
      .query(({ input }) => input)
  const item = procedure()
    .input(z.object({ id: z.string() }))
    .query(() => 1)
  const inside = <P extends string>(parent: P) =>
    router({ getOne: item, parts: router({ getPart: byId(parent) }) })

  test('routers inside of others: their parameters are singular, and can be written in a path', async () => {
    const tree = router({
      'blog-posts': inside('blogPostId'),
      movies: inside('movieId'),
      favoriteMovies: inside('favoriteMovieId'),
      'old-cookies': inside('oldCookieId'),
      series: inside('seriesId'),
      sizes: inside('sizeId'),
      caches: inside('cacheId'),
      branches: inside('branchId'),
      categories: inside('categoryId'),
      boxes: inside('boxId'),
      classes: inside('classId'),
      cases: inside('caseId'),
      heroes: inside('heroId'),
      people: inside('personId'),
      status: inside('statusId'),
      statuses: inside('statusId'),
      apis: inside('apiId'),
      menus: inside('menuId'),
      address: inside('addressId'),
      staff: inside('staffId'),
    })
    const routes = rest(tree)
    const app = kit.app()
    app.register(routes)
    app.expose(routes.api)
    const path = (name: string) =>
      app.routes().find(({ operationId }) => operationId === `${name}.parts.getPart`)?.path
    assert.equal(path('blog-posts'), '/blog-posts/:blogPostId/parts/:id')
    type API = typeof routes.api
    await kit.serve(app, async (live) => {
      const client = createClient<API>(live.address.url)
      const parts = async (call: Promise<{ ok: boolean; status: number; data: unknown }>) => {
        const { ok, data, status } = await call
        assert.ok(ok, String(status))
        return data
      }
      const id = 'x'
      const one = { id, blogPostId: 'p' }
      assert.deepEqual(await parts(client['blog-posts'].parts.getPart({ params: one })), one)
      for (const call of [
        client.movies.parts.getPart({ params: { id, movieId: 'p' } }),
        client.favoriteMovies.parts.getPart({ params: { id, favoriteMovieId: 'p' } }),
        client['old-cookies'].parts.getPart({ params: { id, oldCookieId: 'p' } }),
        client.series.parts.getPart({ params: { id, seriesId: 'p' } }),
        client.sizes.parts.getPart({ params: { id, sizeId: 'p' } }),
        client.caches.parts.getPart({ params: { id, cacheId: 'p' } }),
        client.branches.parts.getPart({ params: { id, branchId: 'p' } }),
        client.categories.parts.getPart({ params: { id, categoryId: 'p' } }),
        client.boxes.parts.getPart({ params: { id, boxId: 'p' } }),
        client.classes.parts.getPart({ params: { id, classId: 'p' } }),
        client.cases.parts.getPart({ params: { id, caseId: 'p' } }),
        client.heroes.parts.getPart({ params: { id, heroId: 'p' } }),
        client.people.parts.getPart({ params: { id, personId: 'p' } }),
        client.status.parts.getPart({ params: { id, statusId: 'p' } }),
        client.statuses.parts.getPart({ params: { id, statusId: 'p' } }),
        client.apis.parts.getPart({ params: { id, apiId: 'p' } }),
        client.menus.parts.getPart({ params: { id, menuId: 'p' } }),
        client.address.parts.getPart({ params: { id, addressId: 'p' } }),
        client.staff.parts.getPart({ params: { id, staffId: 'p' } }),
      ]) {
        await parts(call)
      }
    })
  })

  test('an input without the parameter of a router around it is refused, where it can be seen', () => {
    const around = (comment: ProcedureTree[string]) =>
      router({ posts: router({ getPost: item, comments: router({ getComment: comment }) }) })
    for (const input of [
      z.object({ id: z.string() }),
      Type.Object({ id: Type.String() }),
      z.strictObject({ id: z.string() }),
    ]) {
      assert.throws(
        () =>
          rest(
            around(
              procedure()
                .input(input as z.ZodObject)
                .query(() => 1),
            ),
          ),
        { code: 'E_BAD_OPTION', message: /posts\.comments\.getComment .*:postId .*\.rest\(\{ path \}\)/ },
      )
    }
    for (const input of [
      z.object({ id: z.string(), postId: z.string() }),
      z.looseObject({ id: z.string() }),
      z.unknown(),
      z.union([z.object({ id: z.string() }), z.object({ postId: z.string() })]),
      { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } } as const,
    ]) {
      rest(
        around(
          procedure()
            .input(input as z.ZodUnknown)
            .query(() => 1),
        ),
      )
    }
    rest(around(procedure().query(() => 1)))
    rest(
      around(
        procedure()
          .input(z.object({ id: z.string() }))
          .rest({ path: '/comments/:id' })
          .query(() => 1),
      ),
    )
  })

  test('an input without a parameter of its own path is refused, where that can be seen', () => {
    const book = (name: string, input: unknown, path?: string) => {
      const made = procedure().input(input as z.ZodObject)
      return rest(
        router({
          books: router({
            [name]: (path === undefined ? made : made.rest({ path }))[
              name.startsWith('get') ? 'query' : 'mutation'
            ](() => 1),
          }),
        }),
      )
    }
    const refused = /books\.\w+ is [A-Z]+ \/books\/:id, and its input has no id: .*'\/books\/:isbn'/
    const withoutId = {
      zod: z.object({ isbn: z.string() }),
      'zod, wrapped': z
        .strictObject({ isbn: z.string() })
        .transform(({ isbn }) => isbn)
        .optional(),
      valibot: v.optional(v.object({ isbn: v.string() })),
      arktype: type({ isbn: 'string' }).pipe(({ isbn }) => isbn),
      typebox: Type.Object({ isbn: Type.String() }),
      'JSON Schema': { type: 'object', properties: { isbn: { type: 'string' } } },
    }
    for (const name of ['getBook', 'updateBook', 'patchBook', 'deleteBook']) {
      for (const [library, input] of Object.entries(withoutId)) {
        assert.throws(() => book(name, input), { code: 'E_BAD_OPTION', message: refused }, library)
        book(name, input, '/books/:isbn')
      }
    }
    assert.throws(() => book('getBook', withoutId.zod, '/books/:isnb'), {
      code: 'E_BAD_OPTION',
      message: /no isnb: .*correct its \.rest/,
    })
    for (const input of [
      z.object({ id: z.string() }),
      z.looseObject({ isbn: z.string() }),
      z.object({ isbn: z.string() }).catchall(z.string()),
      z.record(z.string(), z.string()),
      z.union([z.object({ isbn: z.string() }), z.object({ id: z.string() })]),
      z.intersection(z.object({ isbn: z.string() }), z.object({ id: z.string() })),
      z.preprocess((value) => value, z.object({ isbn: z.string() })),
      z.lazy(() => z.object({ isbn: z.string() })),
      v.looseObject({ isbn: v.string() }),
      v.objectWithRest({ isbn: v.string() }, v.string()),
      type({ '[string]': 'string' }),
      type({ isbn: 'string' }).or({ id: 'string' }),
      type('object'),
      { type: 'object', properties: { isbn: {} }, required: ['id'] },
      { type: 'object', properties: { isbn: {} }, unevaluatedProperties: true },
      Type.Object({ isbn: Type.String() }, { additionalProperties: true }),
      Type.Intersect([Type.Object({ isbn: Type.String() }), Type.Object({ id: Type.String() })]),
      { '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) } } as const,
      { '~standard': { version: 1, vendor: 'zod', validate: (value: unknown) => ({ value }) } } as const,
    ]) {
      book('getBook', input)
    }
    rest(router({ books: router({ getBook: procedure().query(() => 1) }) }))
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

  test('names with a verb of another kind of procedure are reported once', async () => {
    const query = procedure().query(() => 1)
    const mutation = procedure().mutation(() => 1)
    const said = (tree: Record<string, typeof query | typeof mutation>): string[] => {
      const lines: string[] = []
      const books = router({ books: router(tree) })
      const { write } = process.stderr
      process.stderr.write = ((text: string, done: () => void) => {
        lines.push(text)
        done()
        return true
      }) as typeof write
      try {
        kit.app().register(rest(books))
        kit.app().register(rest(books, { prefix: '/v2' }))
      } finally {
        process.stderr.write = write
      }
      return lines
    }
    assert.deepEqual(
      said({
        createBook: query,
        getStats: mutation,
        archive: procedure()
          .rest({ method: 'POST' })
          .mutation(() => 1),
      }),
      [
        'volant: no REST route for books.createBook (a query, and create is for a mutation), ' +
          'books.getStats (a mutation, and get is for a query), books.archive (its .rest() has no path): ' +
          'say where with .rest({ method, path }), or .rest(false) for none\n',
      ],
    )
    assert.deepEqual(
      said({
        getaway: query,
        findOrCreate: mutation,
        getOrCreateBook: mutation,
        createAndGet: query,
        patchNotes: query,
        creatBook: mutation,
        set: mutation,
        setBook: mutation,
        createdBooks: query,
        updatedBook: mutation,
        upload: mutation,
        ping: query,
        listBooks: query,
        createDraft: procedure()
          .rest(false)
          .query(() => 1),
        deleteAll: procedure()
          .rest({ path: '/all' })
          .query(() => 1),
        watch: procedure().subscription(async function* () {}) as never,
        listEvents: procedure().subscription(async function* () {}) as never,
      }),
      [],
    )
  })
})
