import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import { createClient } from 'volant/client'
import { procedure, type ProcedureTree, rest, router } from 'volant/procedures'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('procedures over REST, beside tRPC', () => {
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
})
