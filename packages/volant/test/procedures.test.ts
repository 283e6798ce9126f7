/** Procedures, called in process and over tRPC. Long by the libraries of schemas and the kinds of mistakes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import { Type } from 'typebox'
import * as v from 'valibot'
import {
  before,
  HTTPError,
  middleware,
  type OpenAPIOperation,
  openapiOf,
  type Problem,
  validate,
  ValidationError,
  VolantError,
} from 'volant'
import { createClient } from 'volant/client'
import { caller, procedure, rest, router, tracked } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import * as z from 'zod'
import { Kit } from './kit.ts'

const Id = z.object({ id: z.string().min(2) })

/** Compiles only if both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <_T extends true>(): void => {}

const kit = new Kit()

const seen: string[] = []
const auth = before<{ user: string }>((ctx) => {
  const name = ctx.headers['x-user']
  if (name === undefined) throw new HTTPError(401, 'who are you?', { code: 'UNAUTHORIZED' })
  ctx.state.user = name
})
const around = middleware<{ depth: number }>(async (ctx, next) => {
  seen.push('in')
  ctx.state.depth = 1
  await next()
  seen.push('out')
})
const authed = procedure().use(auth).use(around)
const api = router({
  ping: procedure().query(() => 'pong'),
  users: router({
    get: authed
      .input(Id)
      .output(z.object({ id: z.string(), by: z.string() }))
      .errors({ NO_USER: { status: 404, description: 'no such user', data: z.object({ id: z.string() }) } })
      .query(({ input, ctx, path }) => {
        if (input.id === 'none') throw ctx.fail('NO_USER', { id: input.id })
        return { id: `${input.id}@${path}`, by: `${ctx.state.user}${ctx.state.depth}` }
      }),
    rename: procedure()
      .input(z.object({ name: z.string().transform((name) => name.toUpperCase()) }))
      .mutation(async ({ input }) => ({ name: input.name })),
  }),
  count: procedure()
    .input(z.object({ to: z.number() }))
    .output(z.number().max(3))
    .subscription(async function* ({ input }) {
      for (let at = 1; at <= input.to; at++) yield at === 2 ? tracked('two', at) : at
    }),
})

test('calls in process run middleware, check input and output, and are typed', async () => {
  const call = caller(api, { headers: { 'x-user': 'ann' } })
  const pong: string = await call.ping()
  assert.equal(pong, 'pong')
  seen.length = 0
  const user: { id: string; by: string } = await call.users.get({ id: 'u1' })
  assert.deepEqual(user, { id: 'u1@users.get', by: 'ann1' })
  assert.deepEqual(seen, ['in', 'out'])
  assert.deepEqual(await call.users.rename({ name: 'bob' }), { name: 'BOB' })
  // @ts-expect-error -- a number is no id
  await assert.rejects(call.users.get({ id: 7 }), (error: unknown) => {
    assert.ok(error instanceof ValidationError)
    assert.deepEqual(
      error.issues.map(({ in: part, pointer }) => [part, pointer]),
      [['input', '#/id']],
    )
    return true
  })
})

test('calls in process throw what the procedure threw', async () => {
  await assert.rejects(caller(api).users.get({ id: 'u1' }), { status: 401, code: 'UNAUTHORIZED' })
  const call = caller(api, { headers: { 'x-user': 'ann' } })
  await assert.rejects(call.users.get({ id: 'none' }), {
    status: 404,
    code: 'NO_USER',
    data: { id: 'none' },
    message: 'no such user',
  })
})

test('errors of middleware are those of the procedure, too', async () => {
  const limited = middleware(
    { errors: { BUSY: { status: 429, data: z.object({ after: z.number() }) } } },
    (ctx, next) => {
      if (ctx.headers['x-busy'] !== undefined) throw ctx.fail('BUSY', { after: 5 })
      return next()
    },
  )
  const tree = router({
    work: procedure()
      .use(limited)
      .errors({ DONE: { status: 410 } })
      .query(({ ctx }) => {
        if (ctx.headers['x-again'] !== undefined) throw ctx.fail('BUSY', { after: 9 })
        throw ctx.fail('DONE')
      }),
  })
  await assert.rejects(caller(tree).work(), { status: 410, code: 'DONE' })
  await assert.rejects(caller(tree, { headers: { 'x-busy': '1' } }).work(), {
    status: 429,
    data: { after: 5 },
  })
  await assert.rejects(caller(tree, { headers: { 'x-again': '1' } }).work(), {
    status: 429,
    data: { after: 9 },
  })
})

test('a subscription in process is an async iterable of checked events', async () => {
  const events: unknown[] = []
  await assert.rejects(
    (async () => {
      for await (const event of await caller(api).count({ to: 5 })) events.push(event)
    })(),
    { code: 'E_RESPONSE_INVALID' },
  )
  assert.deepEqual(events, [1, { id: 'two', data: 2 }, 3])
})

test('a call from a handler sees its request, and has a state of its own', async () => {
  const app = kit.app()
  app.use((ctx, next) => {
    ctx.state.user = 'app'
    return next()
  })
  const inner = router({
    whoami: procedure().query(({ ctx }) => {
      const before: unknown = ctx.state.user
      ctx.state.user = 'call'
      return `${String(before)} ${ctx.method} ${ctx.url}`
    }),
  })
  app.get('/who', async (ctx) => [await caller(inner, ctx).whoami(), ctx.state.user])
  await kit.serve(app, async (live) => {
    const reply = await live.ask('/who?x=1')
    assert.deepEqual(reply.json(), ['app GET /who?x=1', 'app'])
  })
})

test('middleware may answer in place of the handler; to swallow an error is no answer', async () => {
  const early = router({
    cached: procedure()
      .use(middleware(() => ({ from: 'cache' })))
      .query((): object => assert.fail('not to be called')),
    swallowed: procedure()
      .use(middleware((_, next) => next().catch(() => {})))
      .query(() => {
        throw new HTTPError(418)
      }),
    stopped: procedure()
      .use(middleware(() => {}))
      .query(() => 1),
    both: procedure()
      .use(
        middleware(async (_, next) => {
          await next()
          return 2
        }),
      )
      .query(() => 1),
    twice: procedure()
      .use(
        middleware(async (_, next) => {
          await next()
          await next()
        }),
      )
      .query(() => 1),
    unheld: procedure()
      .use(middleware((_, next) => void next()))
      .query(async () => 1),
    forgotten: procedure()
      .use(
        middleware(async (_, next) => {
          void next()
        }),
      )
      .query(async () => 1),
    failing: procedure()
      .use(
        middleware(async (_, next) => {
          void next()
        }),
      )
      .query(async () => {
        throw new HTTPError(418)
      }),
    recovered: procedure()
      .use(middleware((_, next) => next().then(undefined, () => 'instead')))
      .query(async (): Promise<string> => {
        throw new HTTPError(418)
      }),
    refused: procedure()
      .use(middleware((_, next) => (next as (error: Error) => Promise<void>)(new HTTPError(418))))
      .query(() => 1),
  })
  const call = caller(early)
  assert.deepEqual(await call.cached(), { from: 'cache' })
  await assert.rejects(call.swallowed(), { status: 418 })
  await assert.rejects(call.stopped(), { code: 'E_NEXT_MISSING' })
  await assert.rejects(call.both(), { code: 'E_ALREADY_REPLIED' })
  await assert.rejects(call.twice(), { code: 'E_NEXT_TWICE', message: /the procedure twice called/ })
  assert.equal(await call.unheld(), 1)
  assert.equal(await call.forgotten(), 1)
  await assert.rejects(call.failing(), { status: 418 })
  assert.equal(await call.recovered(), 'instead')
  await assert.rejects(call.refused(), { status: 418 })
})

test('a middleware that calls next() after its call has ended is reported', async () => {
  const reported: unknown[] = []
  let runs = 0
  let late: (() => Promise<void>) | null = null
  const tree = router({
    work: procedure()
      .use(
        middleware((_, next) => {
          late = next
          return 'early'
        }),
      )
      .query(() => ++runs),
  })
  const app = kit.app({ report: (error) => reported.push((error as VolantError).code) })
  app.register(trpc(tree))
  await kit.serve(app, async (live) => {
    assert.deepEqual((await live.ask('/trpc/work')).json(), { result: { data: 'early' } })
    await late?.()
    assert.deepEqual([reported, runs], [['E_NEXT_LATE'], 0])
    await caller(tree).work()
    await late?.()
    assert.deepEqual([reported, runs], [['E_NEXT_LATE'], 0])
  })
})

test('a context of procedures says what it has not', async () => {
  const replying = router({
    reply: procedure()
      .use(
        middleware((ctx, next) => {
          ctx.json({})
          return next()
        }),
      )
      .query(() => 1),
    checked: procedure()
      .use(validate({ body: Id }))
      .query(() => 1),
    undeclared: procedure().query(({ ctx }) => {
      throw (ctx as unknown as { fail(code: string): Error }).fail('OTHER')
    }),
  })
  await assert.rejects(caller(replying).reply(), { code: 'E_PROCEDURE_CONTEXT', message: /no json/ })
  await assert.rejects(caller(replying).checked(), { code: 'E_PROCEDURE_CONTEXT', message: /no body/ })
  await assert.rejects(caller(replying).undeclared(), {
    code: 'E_UNDECLARED_ERROR',
    message: /the procedure undeclared .*declares none/,
  })
})

test('mistakes are refused when they are made', () => {
  const bad = (make: () => unknown, code: string, message: RegExp) =>
    assert.throws(make, (error: unknown) => {
      assert.ok(error instanceof VolantError, String(error))
      assert.equal(error.code, code)
      assert.match(error.message, message)
      return true
    })
  bad(() => procedure().input({} as never), 'E_BAD_SCHEMA', /input/)
  bad(
    () => kit.app().register(router({}) as never),
    'E_BAD_HANDLER',
    /^a plugin is not a function but an object: write app\.register\(rest\(api\)\) or app\.register\(trpc\(api\)\)$/,
  )
  bad(() => procedure().input(Id).input(Id), 'E_BAD_OPTION', /one input schema/)
  bad(() => procedure().use(7 as never), 'E_BAD_HANDLER', /middleware/)
  bad(() => procedure().use(middleware({ onResponse() {} }, (_, next) => next())), 'E_BAD_OPTION', /app.use/)
  bad(() => procedure().errors({ A: { status: 200 } }), 'E_BAD_STATUS', /A takes a status/)
  bad(() => procedure().meta({ title: 'x' } as never), 'E_BAD_OPTION', /title/)
  bad(() => procedure().rest({ path: 'x' }), 'E_BAD_OPTION', /rest.path/)
  bad(() => procedure().query(7 as never), 'E_BAD_HANDLER', /handler of a query/)
  bad(() => router({ call: procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
  bad(() => router({ 'a.b': procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
  bad(() => router({ ['__proto__']: procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
  // @ts-expect-error -- a procedure ends with .query(handler), .mutation(handler) or .subscription(handler)
  bad(() => router({ a: procedure() }), 'E_BAD_OPTION', /last step/)
  // @ts-expect-error -- it is neither a procedure nor a router
  bad(() => router({ a: 5 }), 'E_BAD_OPTION', /neither a procedure nor a router/)
  bad(() => caller({} as never), 'E_BAD_OPTION', /router/)
  bad(() => tracked('', 1), 'E_BAD_OPTION', /one line/)
  bad(() => tracked('a\nb', 1), 'E_BAD_OPTION', /one line/)
})

describe('procedures over REST', () => {
  const Comment = z.object({ postId: z.string(), id: z.number().int() })
  const say = (what: string) => (call: { input: unknown }) => ({ what, input: call.input })
  const posts = router({
    listPosts: procedure()
      .input(
        z.object({
          limit: z.number().max(50).default(10),
          tags: z.array(z.string()).default([]),
          all: z.boolean().default(false),
        }),
      )
      .query(say('list')),
    getPost: procedure().input(Id).query(say('get')),
    createPost: procedure()
      .meta({ summary: 'Write a post' })
      .input(z.object({ title: z.string() }))
      .output(z.object({ id: z.string(), title: z.string() }))
      .mutation(({ input }) => ({ id: 'p1', title: input.title })),
    updatePost: procedure()
      .input(Id.extend({ title: z.string() }))
      .mutation(say('update')),
    patchPost: procedure()
      .input(Id.extend({ title: z.string().optional() }))
      .mutation(say('patch')),
    removePost: procedure()
      .use(auth)
      .errors({ NO_POST: { status: 404, data: Id } })
      .input(Id)
      .mutation(({ input, ctx }) => {
        if (input.id === 'none') throw ctx.fail('NO_POST', { id: input.id })
      }),
    publish: procedure()
      .input(Id)
      .rest({ method: 'POST', path: '/posts/:id/publish', status: 202 })
      .mutation(say('publish')),
    clear: procedure().rest({ path: '/posts', method: 'DELETE', status: 204 }).mutation(say('clear')),
    getaway: procedure().query(say('getaway')),
    getSecret: procedure().rest(false).query(say('secret')),
    listLater: procedure().mutation(say('a mutation that is no list')),
    comments: router({
      getComment: procedure().input(Comment).query(say('comment')),
      listComments: procedure()
        .input(Comment.pick({ postId: true }))
        .query(say('comments')),
    }),
  })
  const tree = router({
    posts,
    health: router({ getHealth: procedure().query(() => ({ status: 'ok' })) }),
    admin: router({ categories: router({ getCategory: procedure().input(Id).query(say('category')) }) }),
    ping: procedure().query(() => 'pong'),
  })
  const json = { 'content-type': 'application/json' }

  test('names and places make routes', () => {
    const app = kit.app()
    app.register(rest(tree, { prefix: '/api/' }))
    assert.deepEqual(
      app.routes().map(({ method, path, operationId }) => `${method} ${path} ${operationId}`),
      [
        'GET /api/posts posts.listPosts',
        'GET /api/posts/:id posts.getPost',
        'POST /api/posts posts.createPost',
        'PUT /api/posts/:id posts.updatePost',
        'PATCH /api/posts/:id posts.patchPost',
        'DELETE /api/posts/:id posts.removePost',
        'POST /api/posts/:id/publish posts.publish',
        'DELETE /api/posts posts.clear',
        'GET /api/posts/:postId/comments/:id posts.comments.getComment',
        'GET /api/posts/:postId/comments posts.comments.listComments',
        'GET /api/health health.getHealth',
        'GET /api/admin/categories/:id admin.categories.getCategory',
      ],
    )
  })

  test('the input is in path, query and body, read as its schema says', async () => {
    const app = kit.app()
    app.register(rest(tree))
    await kit.serve(app, async (live) => {
      const input = async (path: string, ask?: Parameters<typeof live.ask>[1]) => {
        const reply = await live.ask(path, ask)
        assert.ok(reply.status < 300, reply.text)
        return (reply.json() as { input: unknown }).input
      }
      assert.deepEqual(await input('/posts'), { limit: 10, tags: [], all: false })
      assert.deepEqual(await input('/posts?limit=3&tags=a&all=true'), { limit: 3, tags: ['a'], all: true })
      assert.deepEqual(await input('/posts?tags=a&tags=b'), { limit: 10, tags: ['a', 'b'], all: false })
      assert.deepEqual(await input('/posts/p1'), { id: 'p1' })
      assert.deepEqual(await input('/posts/p1/comments/7'), { postId: 'p1', id: 7 })
      assert.deepEqual(
        await input('/posts/p1', { method: 'PUT', headers: json, body: '{"title":"a","id":"other"}' }),
        {
          id: 'p1',
          title: 'a',
        },
      )
      assert.deepEqual(await input('/posts/p1', { method: 'PATCH' }), { id: 'p1' })
      const created = await live.ask('/posts', { method: 'POST', headers: json, body: '{"title":"a"}' })
      assert.equal(created.status, 201)
      assert.deepEqual(created.json(), { id: 'p1', title: 'a' })
      const published = await live.ask('/posts/p1/publish', { method: 'POST' })
      assert.equal(published.status, 202)
      assert.deepEqual(published.json(), { what: 'publish', input: { id: 'p1' } })
      assert.equal((await live.ask('/posts', { method: 'DELETE' })).status, 204)
      assert.deepEqual((await live.ask('/health')).json(), { status: 'ok' })
      for (const path of ['/ping', '/posts/getaway/x', '/secret'])
        assert.equal((await live.ask(path)).status, 404, path)
    })
  })

  test('middleware, issues and declared errors are those of routes', async () => {
    const app = kit.app()
    app.register(rest(tree))
    await kit.serve(app, async (live) => {
      const problem = async (path: string, ask?: Parameters<typeof live.ask>[1]) => {
        const reply = await live.ask(path, ask)
        assert.match(reply.headers['content-type'] ?? '', /^application\/problem\+json/)
        const { status, code, data, errors } = reply.json() as Problem
        return { status, code, data, errors: errors?.map((issue) => `${issue.in} ${issue.pointer}`) }
      }
      const invalid = (...errors: string[]) => ({
        status: 400,
        code: 'E_VALIDATION',
        data: undefined,
        errors,
      })
      assert.deepEqual(await problem('/posts?limit=x&all=1'), invalid('query #/limit', 'query #/all'))
      assert.deepEqual(await problem('/posts/p/comments/x'), invalid('params #/id'))
      const body = (text: string) => ({ method: 'PUT', headers: json, body: text })
      assert.deepEqual(await problem('/posts/p', body('{"title":1}')), invalid('params #/id', 'body #/title'))
      assert.deepEqual(await problem('/posts/p1', body('[]')), invalid('body #'))
      assert.deepEqual(await problem('/posts/p1', { method: 'PUT' }), invalid('body #/title'))
      assert.deepEqual(await problem('/posts', { method: 'POST' }), invalid('body #'))
      assert.equal((await problem('/posts/p1', body('{"__proto__":{"title":"a"}}'))).code, 'E_JSON_PROTO')
      const remove = (id: string, headers = {}) => problem(`/posts/${id}`, { method: 'DELETE', headers })
      assert.deepEqual(await remove('p1'), {
        status: 401,
        code: 'UNAUTHORIZED',
        data: undefined,
        errors: undefined,
      })
      assert.deepEqual(await remove('none', { 'x-user': 'ann' }), {
        status: 404,
        code: 'NO_POST',
        data: { id: 'none' },
        errors: undefined,
      })
      const removed = await live.ask('/posts/p1', { method: 'DELETE', headers: { 'x-user': 'ann' } })
      assert.equal(removed.status, 204)
    })
  })

  test('they are in the document of the app, with parameters, bodies, replies and errors', async () => {
    const app = kit.app()
    const bearer = middleware({ security: { bearer: { type: 'http', scheme: 'bearer' } } }, (_, next) =>
      next(),
    )
    const key = { type: 'apiKey', in: 'header', name: 'x-key' }
    const cookie = { type: 'apiKey', in: 'cookie', name: 'session' }
    const either = middleware({ security: [{ key }, { cookie }] }, (_, next) => next())
    app.register(rest(tree))
    app.register(
      rest(
        router({
          keys: router({
            listKeys: procedure()
              .use(bearer)
              .query(() => []),
            firstKey: procedure()
              .rest({ method: 'GET', path: '/keys/first' })
              .use(bearer)
              .use(either)
              .query(() => []),
          }),
        }),
      ),
    )
    app.register(trpc(tree))
    const document = openapiOf(app, { info: { title: 'Test', version: '1' } })
    const operations = document.paths as Record<string, Record<string, OpenAPIOperation>>
    assert.ok(!Object.keys(operations).some((path) => path.startsWith('/trpc')))
    const create = operations['/posts']?.['post']
    assert.equal(create?.summary, 'Write a post')
    assert.deepEqual(create?.tags, ['posts'])
    assert.deepEqual(Object.keys(create?.responses ?? {}).slice(0, 1), ['201'])
    const update = operations['/posts/{id}']?.['put']
    assert.deepEqual(
      update?.parameters?.map((each) => 'name' in each && `${each.in} ${each.name}`),
      ['path id'],
    )
    assert.equal(update?.requestBody?.required, true)
    assert.deepEqual(update?.requestBody?.content['application/json']?.schema, {
      type: 'object',
      properties: { title: { type: 'string' } },
      required: ['title'],
    })
    const list = operations['/posts']?.['get']
    assert.deepEqual(
      list?.parameters?.map(
        (each) => 'name' in each && `${each.in} ${each.name} ${JSON.stringify(each.schema)}`,
      ),
      [
        'query limit {"default":10,"type":"number","maximum":50}',
        'query tags {"default":[],"type":"array","items":{"type":"string"}}',
        'query all {"default":false,"type":"boolean"}',
      ],
    )
    assert.match(JSON.stringify(operations['/posts/{id}']?.['delete']?.responses), /NO_POST/)
    assert.deepEqual(operations['/keys']?.['get']?.security, [{ bearer: [] }])
    assert.deepEqual(operations['/keys/first']?.['get']?.security, [
      { bearer: [], key: [] },
      { bearer: [], cookie: [] },
    ])
  })

  test('a typed client calls them', async () => {
    const routes = rest(tree, { prefix: '/api' })
    const app = kit.app()
    app.register(routes)
    app.expose(routes.api)
    await kit.serve(app, async (live) => {
      const client = createClient<typeof routes.api>(live.address.url, { headers: { 'x-user': 'ann' } })
      const created = await client.posts.createPost({ body: { title: 'one' } })
      assert.ok(created.ok)
      same<Same<typeof created.status, 201>>()
      same<Same<typeof created.data, { id: string; title: string }>>()
      assert.deepEqual(created.data, { id: 'p1', title: 'one' })

      const listed = await client.posts.listPosts({ query: { limit: 2, tags: ['a'] } })
      assert.ok(listed.ok)
      assert.deepEqual(listed.data.input, { limit: 2, tags: ['a'], all: false })
      assert.ok((await client.posts.listPosts()).ok)
      // @ts-expect-error -- a text is no limit
      assert.equal((await client.posts.listPosts({ query: { limit: 'x' } })).status, 400)

      const comment = await client.posts.comments.getComment({ params: { postId: 'p', id: 7 } })
      assert.ok(comment.ok)
      assert.deepEqual(comment.data, { what: 'comment', input: { postId: 'p', id: 7 } })
      const updated = await client.posts.updatePost({ params: { id: 'p1' }, body: { title: 'two' } })
      assert.ok(updated.ok)
      const published = await client.posts.publish({ params: { id: 'p1' } })
      same<Same<Extract<typeof published, { ok: true }>['status'], 202>>()
      assert.equal(published.status, 202)
      assert.ok((await client.health.getHealth()).ok)
      assert.ok((await client.admin.categories.getCategory({ params: { id: 'c1' } })).ok)

      const missing = await client.posts.removePost({ params: { id: 'none' } })
      assert.ok(!missing.ok && missing.code === 'NO_POST')
      same<Same<typeof missing.data, { id: string }>>()
      assert.deepEqual(missing.data, { id: 'none' })
      const removed = await client.posts.removePost({ params: { id: 'p1' } })
      assert.ok(removed.ok)
      same<Same<typeof removed.status, 204>>()
      same<Same<'getSecret' extends keyof typeof client.posts ? true : false, false>>()
      same<Same<'getaway' extends keyof typeof client.posts ? true : false, false>>()
      same<Same<'ping' extends keyof typeof client ? true : false, false>>()
    })
  })

  test('two procedures in one place are refused, and named', () => {
    const clash = router({
      users: router({
        listUsers: procedure().query(() => 1),
        findUsers: procedure().query(() => 2),
      }),
    })
    assert.throws(() => rest(clash), {
      code: 'E_ROUTE_CONFLICT',
      message: /users\.listUsers and users\.findUsers both are GET \/users/,
    })
    const app = kit.app()
    app.get('/users', () => 1)
    assert.throws(
      () => app.register(rest(router({ users: router({ listUsers: procedure().query(() => 1) }) }))),
      { code: 'E_ROUTE_CONFLICT' },
    )
    assert.throws(
      () =>
        procedure()
          .rest({ path: '/x' })
          .subscription(async function* () {}),
      { code: 'E_BAD_OPTION' },
    )
    assert.throws(() => rest(clash, { prefix: 'api' }), { code: 'E_ROUTE_CONFLICT' })
    assert.throws(() => rest(router({}), { prefix: 'api' }), { code: 'E_BAD_OPTION' })
  })

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

  test('opaque input schemas: nothing is read as anything, and the document says so', async () => {
    const opaque = {
      '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) },
    } as const
    const app = kit.app()
    app.register(
      rest(router({ things: router({ getThing: procedure().input(opaque).query(say('thing')) }) })),
    )
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/things/7?n=1')
      assert.deepEqual(reply.json(), { what: 'thing', input: { id: '7', n: '1' } })
    })
  })
})
