/** Which operations a client has: those of a table, of contracts, and of parts of an API. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as v from 'valibot'
import { contract } from 'volant'
import { createClient } from 'volant/client'
import * as z from 'zod'
import { auth, kit, serverOf } from './kit.ts'

describe('client', () => {
  test('a client is no promise, and what it has no operation for is named', async () => {
    const { app, api } = serverOf()
    const client = createClient<typeof api>('http://server.test', { fetch: app.fetch })
    assert.equal(await Promise.resolve(client), client)
    assert.equal(await client.users, client.users)
    assert.equal(client.users.get, client.users.get)
    const any = client as unknown as Record<string, Record<string, () => Promise<unknown>>>
    assert.equal(any['then'], undefined)
    assert.equal(String(client), '[object Function]')
    assert.equal(JSON.stringify({ client }), '{}')
    for (const name of ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf']) {
      assert.equal(any[name], Object.prototype[name as never], name)
    }
    await assert.rejects(any['users']!['gets']!(), {
      name: 'TypeError',
      message: 'there is no operation users.gets; there are users.get, users.add, echo, mounted',
    })
    await assert.rejects((client.users as unknown as () => Promise<unknown>)(), {
      message: /operation users;/,
    })
    await assert.rejects((client as unknown as () => Promise<unknown>)(), { name: 'TypeError' })
    assert.throws(() => createClient('http://x.test?a=b'), { name: 'TypeError' })
    for (const name of ['then', 'constructor', 'a.b', '']) {
      const tree = { [name]: contract.get('/x') }
      assert.throws(() => createClient(tree, 'http://x.test'), {
        name: 'TypeError',
        message: /cannot be an op/,
      })
      assert.throws(() => kit.app().expose(tree), { code: 'E_BAD_OPTION' })
    }
    assert.throws(() => createClient({ x: 5 } as never, 'http://x.test'), { name: 'TypeError' })
  })

  test('contracts, and a table that was generated, need nothing from the server', async () => {
    const tree = {
      users: {
        get: contract.get('/users/:id', {
          params: v.object({ id: v.string() }),
          response: v.object({ id: v.string() }),
          errors: { GONE: { status: 410, description: 'It was there' } },
        }),
      },
      ping: contract.get('/ping'),
    }
    const app = kit.app()
    app.implement(tree, {
      users: {
        get: (ctx) => {
          if (ctx.params.id === 'gone') throw ctx.fail('GONE')
          return { id: ctx.params.id }
        },
      },
      ping: () => 'pong',
    })
    await kit.serve(app, async ({ address }) => {
      for (const client of [
        createClient(tree, `${address.url}/`),
        createClient<typeof tree>(new URL(address.url), {
          routes: { 'users.get': ['GET', '/users/:id'], ping: ['GET', '/ping', []] },
        }),
      ]) {
        assert.deepEqual((await client.users.get({ params: { id: 'a' } })).data, { id: 'a' })
        const gone = await client.users.get({ params: { id: 'gone' } })
        assert.ok(!gone.ok && gone.code === 'GONE')
        assert.deepEqual([gone.status, gone.detail, gone.data], [410, 'It was there', undefined])
        const pong = await client.ping()
        assert.equal(pong.data, 'pong')
      }
    })
  })

  test('files give their part of an API, and a contract the errors of middleware', async () => {
    const notes = kit.app()
    const list = notes.get('/', () => ['Bread'])
    const errors = { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } }
    const admin = {
      purge: contract.delete('/purge', { response: { 204: null }, errors }),
      count: contract.get('/count', { response: z.number() }),
    }
    const app = kit.app()
    app.mount('/notes', notes)
    app.group('/admin', (group) => {
      group.implement(admin.purge, auth, (ctx) => ctx.reply(204))
      group.implement(admin.count, auth, () => 1)
    })
    const api = { notes: { list }, admin }
    app.expose(api)
    await kit.serve(app, async ({ address }) => {
      const client = createClient<typeof api>(address.url)
      assert.deepEqual((await client.notes.list()).data, ['Bread'])
      assert.equal((await client.admin.purge({}, { headers: { authorization: 'ada' } })).status, 204)
      const contracts = createClient(admin, `${address.url}/admin`)
      for (const { purge } of [client.admin, contracts]) {
        const refused = await purge()
        assert.ok(!refused.ok)
        assert.equal(refused.code, 'UNAUTHORIZED')
        assert.deepEqual(refused.data, { realm: 'users' })
      }
      await assert.rejects(contracts.count(), { name: 'ClientError', status: 401 })
    })
  })
})
