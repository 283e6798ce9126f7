/** Contracts that are made before their handlers, and the routes that an app exposes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contract } from 'volant'
import { createClient } from 'volant/client'
import { clientFile } from 'volant/generate'
import * as z from 'zod'
import { kit, User } from './kit.ts'

describe('contracts first', () => {
  const getUser = contract.get('/users/:id', {
    params: z.object({ id: z.coerce.number() }),
    response: User,
    errors: { GONE: { status: 410 } },
  })
  const addUser = contract.post('/users', { body: User, response: { 201: User } })
  const ping = contract.get('/ping')
  const api = { users: { get: getUser, add: addUser }, ping }

  test('a contract gets its handler later, one by one or as a tree', async () => {
    const single = kit.app()
    single.implement(getUser, (ctx) => {
      if (ctx.params.id === 0) throw ctx.fail('GONE')
      return { id: ctx.params.id, name: 'a' }
    })
    const tree = kit.app()
    tree.group('/v1', (scope) => {
      scope.implement(api, {
        users: {
          get: (ctx) => (ctx.params.id === 0 ? ctx.fail('GONE') : { id: ctx.params.id, name: 'a' }),
          add: (ctx) => ctx.reply(201, ctx.body),
        },
        ping: () => 'pong',
      })
    })
    await kit.serve(single, async (live) => {
      assert.deepEqual((await live.ask('/users/5')).json(), { id: 5, name: 'a' })
      assert.equal((await live.ask('/users/0')).status, 410)
      assert.equal((await live.ask('/users/x')).status, 400)
    })
    await kit.serve(tree, async (live) => {
      assert.deepEqual((await live.ask('/v1/users/5')).json(), { id: 5, name: 'a' })
      const added = await live.post('/v1/users', 'application/json', '{"id":1,"name":"b"}')
      assert.equal(added.status, 201)
      assert.equal((await live.ask('/v1/ping')).text, 'pong')
    })
  })

  test('missing handlers, and handlers of nothing, are refused', async () => {
    const app = kit.app()
    const noHandler = { code: 'E_BAD_HANDLER', message: /\("\/x"\) takes no handler: app\.implement\(/ }
    assert.throws(() => contract.get('/x', (() => 1) as never), noHandler)
    assert.throws(() => (contract.get as Function)('/x', {}, () => 1), noHandler)
    assert.throws(() => app.implement(api, { users: { get: () => null } } as never), {
      code: 'E_NOT_IMPLEMENTED',
      message: /no handler for users\.add \(POST \/users\), ping \(GET \/ping\)/,
    })
    const more = { users: { get: () => 1, add: () => 1, other: () => 1 }, ping: () => 1 }
    assert.throws(() => app.implement(api, more as never), {
      code: 'E_BAD_HANDLER',
      message: /users\.other/,
    })
    app.implement(ping, () => 'pong')
    assert.throws(() => app.implement(ping, () => 'pong'), { code: 'E_ROUTE_CONFLICT' })
    app.expose(api)
    await assert.rejects(app.inject('/ping'), {
      code: 'E_NOT_IMPLEMENTED',
      message: /users\.get \(GET \/users\/:id\), users\.add \(POST \/users\)/,
    })
  })

  test('exposed routes have names, and a table for clients', async () => {
    const app = kit.app()
    app.implement(ping, () => 'pong')
    const inner = kit.app()
    const list = inner.get('/users', { summary: 'All users' }, () => [])
    const both = inner.on(['PUT', 'PATCH'], '/users/:id', () => 1)
    app.mount('/api', inner)
    app.expose({ ping, users: { list, change: both } })
    const names = app.routes().map(({ method, path, operationId }) => `${method} ${path} ${operationId}`)
    assert.deepEqual(names, [
      'GET /ping ping',
      'GET /api/users users.list',
      'PUT /api/users/:id users.change.put',
      'PATCH /api/users/:id users.change.patch',
      'GET /client.json undefined',
    ])
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/client.json')).json(), {
        ping: ['GET', '/ping', []],
        'users.list': ['GET', '/api/users', []],
        'users.change': ['PUT', '/api/users/:id', []],
      })
    })
    assert.throws(() => kit.app().expose({ x: 5 } as never), { code: 'E_BAD_OPTION', message: /x is 5/ })
  })

  test('a hidden route is not in the table that anybody may read; who has its contract calls it', async () => {
    const api = {
      ping: contract.get('/ping', { response: z.literal('pong') }),
      admin: { purge: contract.post('/internal/purge', { hidden: true, response: z.literal('done') }) },
    }
    const app = kit.app()
    app.implement(api, { ping: () => 'pong' as const, admin: { purge: () => 'done' as const } })
    app.expose(api)
    await kit.serve(app, async (live) => {
      const { url } = live.address
      assert.deepEqual((await live.ask('/client.json')).json(), { ping: ['GET', '/ping', [200]] })
      const loading = createClient<typeof api>(url)
      assert.equal((await loading.ping()).data, 'pong')
      await assert.rejects(loading.admin.purge(), /there is no operation admin\.purge; there are ping/)
      assert.equal((await createClient(api, url).admin.purge()).data, 'done')
    })
    assert.match(clientFile(app).text, /"admin\.purge": \["POST","\/internal\/purge"/)
  })

  test('a mounted app exposes its routes itself, and names them in both documents', async () => {
    const inner = kit.app()
    const list = inner.get('/users', () => [])
    inner.expose({ users: { list } })
    const outer = kit.app()
    outer.mount('/api', inner)
    assert.equal(outer.routes()[0]?.operationId, 'users.list')
    await kit.serve(outer, async (live) => {
      assert.deepEqual(Object.keys((await live.ask('/api/client.json')).json() as object), ['users.list'])
    })
    const lacking = kit.app()
    lacking.expose({ ping })
    const around = kit.app()
    around.mount('/m', lacking)
    await assert.rejects(around.inject('/m'), { code: 'E_NOT_IMPLEMENTED', message: /ping \(GET \/ping\)/ })
  })

  test('two routes with one operation id are refused, both named', async () => {
    const app = kit.app()
    app.get('/a', { operationId: 'same' }, () => 1)
    app.post('/b', { operationId: 'same' }, () => 1)
    await assert.rejects(app.inject('/a'), {
      code: 'E_OPERATION_ID',
      message: 'GET /a and POST /b both have the operationId "same": give one of them another',
    })
  })

  test('a name of the exposed tree is an operation id, too', async () => {
    const app = kit.app()
    const first = app.get('/a', () => 1)
    app.post('/b', { operationId: 'things.first' }, () => 1)
    app.expose({ things: { first } })
    await assert.rejects(app.inject('/a'), {
      code: 'E_OPERATION_ID',
      message: 'GET /a and POST /b both have the operationId "things.first": give one of them another',
    })
  })
})
