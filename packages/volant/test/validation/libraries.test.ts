import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as v from 'valibot'
import { type Problem, validate } from 'volant'
import * as z from 'zod'
import { Kit } from '../kit.ts'

/** One set of schemas by each library; both are asked the same. */
const libraries = {
  zod: {
    params: z.object({ id: z.coerce.number().int() }),
    query: z.object({ limit: z.coerce.number().max(10).default(5), tag: z.array(z.string()).optional() }),
    headers: z.object({ 'x-key': z.string().min(3) }),
    cookies: z.object({ session: z.string().optional() }),
    body: z.object({ name: z.string().min(2), address: z.object({ 'a/b~c': z.string() }).optional() }),
    later: z.object({ id: z.string().refine(async (id) => id !== '0', 'taken') }),
  },
  valibot: {
    params: v.object({ id: v.pipe(v.string(), v.transform(Number), v.integer()) }),
    query: v.object({
      limit: v.optional(v.pipe(v.string(), v.transform(Number), v.maxValue(10)), '5'),
      tag: v.optional(v.array(v.string())),
    }),
    headers: v.object({ 'x-key': v.pipe(v.string(), v.minLength(3)) }),
    cookies: v.object({ session: v.optional(v.string()) }),
    body: v.object({
      name: v.pipe(v.string(), v.minLength(2)),
      address: v.optional(v.object({ 'a/b~c': v.string() })),
    }),
    later: v.objectAsync({
      id: v.pipeAsync(
        v.string(),
        v.checkAsync(async (id) => id !== '0', 'taken'),
      ),
    }),
  },
}

const kit = new Kit()

for (const [library, schemas] of Object.entries(libraries) as [string, (typeof libraries)['zod']][]) {
  const { params, query, headers, cookies, body, later } = schemas
  describe(`validation with ${library}`, () => {
    test('one text is a list of one where the schema has a list', async () => {
      const app = kit.app()
      app.get('/search', { query }, (ctx) => ctx.query)
      app.get('/middleware', validate({ query }), (ctx) => ctx.query)
      await kit.serve(app, async (live) => {
        for (const path of ['/search', '/middleware']) {
          assert.deepEqual((await live.ask(`${path}?tag=a`)).json(), { limit: 5, tag: ['a'] })
          assert.deepEqual((await live.ask(`${path}?tag=a&tag=b`)).json(), { limit: 5, tag: ['a', 'b'] })
          assert.deepEqual((await live.ask(path)).json(), { limit: 5 })
          const { errors } = (await live.ask(`${path}?tag=a&limit=99`)).json() as Problem
          assert.deepEqual(
            errors?.map(({ pointer }) => pointer),
            ['#/limit'],
          )
        }
      })
    })

    test('handlers see what the schemas made of every part', async () => {
      const app = kit.app()
      app.post('/options/:id', { params, query, headers, cookies, body }, (ctx) => ({
        id: ctx.params.id + 1,
        limit: ctx.query.limit + 1,
        tag: ctx.query.tag,
        key: ctx.headers['x-key'],
        session: ctx.cookies.session,
        name: ctx.body.name,
      }))
      app.post('/middleware/:id', validate({ params, query, headers, cookies, body }), (ctx) => ({
        id: ctx.params.id + 1,
        limit: ctx.query.limit + 1,
        tag: ctx.query.tag,
        key: ctx.headers['x-key'],
        session: ctx.cookies.session,
        name: ctx.body.name,
      }))
      await kit.serve(app, async (live) => {
        for (const path of ['/options', '/middleware']) {
          const reply = await live.post(
            `${path}/6?tag=a&tag=b`,
            'application/json',
            '{"name":"ann","more":1}',
            {
              'x-key': 'key',
              cookie: 'session=s; other=o',
            },
          )
          assert.equal(reply.status, 200)
          assert.deepEqual(reply.json(), {
            id: 7,
            limit: 6,
            tag: ['a', 'b'],
            key: 'key',
            session: 's',
            name: 'ann',
          })
        }
      })
    })

    test('everything that is wrong is told in one 400', async () => {
      const app = kit.app()
      let ran = 0
      app.post('/x/:id', { params, query, headers, body }, () => ++ran)
      await kit.serve(app, async (live) => {
        const reply = await live.post('/x/1.5?limit=11', 'application/json', '{"name":"a","address":{}}')
        assert.equal(reply.status, 400)
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
        const problem = reply.json() as Problem
        assert.equal(problem.code, 'E_VALIDATION')
        assert.deepEqual(
          problem.errors?.map((issue) => `${issue.in} ${issue.pointer}`),
          ['params #/id', 'query #/limit', 'headers #/x-key', 'body #/name', 'body #/address/a~1b~0c'],
        )
        assert.ok(problem.errors?.every(({ detail }) => detail.length > 0))
      })
      assert.equal(ran, 0)
    })

    test('without a body the schema sees undefined; a malformed one is 400 by itself', async () => {
      const app = kit.app()
      app.post('/x', { body }, (ctx) => ctx.body.name)
      await kit.serve(app, async (live) => {
        const none = await live.ask('/x', { method: 'POST' })
        assert.equal(none.status, 400)
        assert.deepEqual((none.json() as Problem).errors?.[0]?.pointer, '#')
        assert.equal(
          ((await live.post('/x', 'application/json', '{')).json() as Problem).code,
          'E_BODY_MALFORMED',
        )
        assert.equal((await live.post('/x', 'text/csv-nope', 'x')).status, 400)
        assert.equal((await live.post('/x', 'image/png', 'x')).status, 415)
      })
    })

    test('asynchronous schemas', async () => {
      const app = kit.app()
      app.get('/one/:id', { params: later }, (ctx) => ctx.params.id)
      app.get('/two/:id', validate({ params: later, query }), (ctx) => `${ctx.params.id} ${ctx.query.limit}`)
      app.get('/three/:id', { params: later, query, headers }, () => 'never')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/one/1')).text, '1')
        assert.equal((await live.ask('/one/0')).status, 400)
        assert.equal((await live.ask('/two/1')).text, '1 5')
        const reply = (await live.ask('/three/0?limit=99')).json() as Problem
        assert.deepEqual(
          reply.errors?.map((issue) => `${issue.in} ${issue.pointer}`),
          ['params #/id', 'query #/limit', 'headers #/x-key'],
        )
      })
    })

    test('schemas of a scope are for all its routes', async () => {
      const app = kit.app()
      const scope = app.with(validate({ query }))
      scope.get('/x', (ctx) => ctx.query.limit + 1)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).text, '6')
        assert.equal((await live.ask('/x?limit=12')).status, 400)
      })
    })
  })
}
