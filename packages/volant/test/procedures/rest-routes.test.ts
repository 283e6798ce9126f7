/** The routes of procedures, and what they are given. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Problem } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import { Kit } from '../kit.ts'
import { tree } from './posts.ts'

const kit = new Kit()
const json = { 'content-type': 'application/json' }

describe('procedures over REST', () => {
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
})
