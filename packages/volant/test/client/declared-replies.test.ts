/** Replies and errors that a route declares are results of the client. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { contract, type Route } from 'volant'
import { ClientError, createClient } from 'volant/client'
import * as z from 'zod'
import { born, kit, serverOf } from './kit.ts'

describe('client', () => {
  test('declared replies and errors are results', async () => {
    const { app, api } = serverOf()
    await kit.serve(app, async ({ address }) => {
      const client = createClient<typeof api>(address.url, { headers: { authorization: 'ada' } })
      const one = await client.users.get({ params: { id: 1 } })
      assert.ok(one.ok)
      assert.equal(one.status, 200)
      assert.deepEqual(one.data, { id: 1, name: 'ada', born: born.toISOString() })
      assert.equal(one.response.headers.get('content-type'), 'application/json; charset=utf-8')

      const none = await client.users.get({ params: { id: 0 } })
      assert.ok(!none.ok && none.code === 'USER_NOT_FOUND')
      assert.equal(none.status, 404)
      assert.deepEqual(none.data, { id: 0 })

      const invalid = await client.users.get({ params: { id: 'x' } })
      assert.ok(!invalid.ok && invalid.code === 'E_VALIDATION')
      assert.equal(invalid.status, 400)
      assert.deepEqual(
        invalid.issues.map((issue) => `${issue.in} ${issue.pointer}`),
        ['params #/id'],
      )

      const stranger = await client.users.get(
        { params: { id: 1 } },
        { headers: { authorization: undefined } },
      )
      assert.ok(!stranger.ok && stranger.code === 'UNAUTHORIZED')
      assert.deepEqual(stranger.data, { realm: 'users' })

      const added = await client.users.add({ body: { name: 'ada' } })
      assert.ok(added.ok && added.status === 201)
      assert.equal(added.data.name, 'ada')
      const nobody = await client.users.add({ body: { name: 'nobody' } })
      assert.ok(nobody.ok && nobody.status === 204)
      assert.equal(nobody.data, undefined)
      const taken = await client.users.add({ body: { name: 'taken' } })
      assert.ok(!taken.ok && taken.status === 409)
      assert.deepEqual(taken.data, { taken: 'taken' })
      assert.equal(taken.code, undefined)

      assert.equal((await client.mounted({ params: { id: 'x' } })).data, 'x')
      assert.equal((await client.mounted()).data, 'none')
    })
  })

  test('a reply is declared if its code, its status and its type are', async () => {
    const app = kit.app()
    const User = z.object({ id: z.number() })
    const errors = { GONE: { status: 410 } }
    const api = {
      user: app.get('/user', { response: { 200: User, 404: User }, errors }, () => ({ id: 1 })),
      text: app.get('/text', { response: z.string() }, () => 'text'),
      page: app.get('/page', { mediaType: 'text/HTML; charset=utf-8', response: z.string() }, () => '<p>'),
      open: app.get('/open', { query: z.object({ a: z.string().optional() }) }, () => 1),
    }
    app.expose(api)
    let send: Response | null = null
    const fetch = async (request: Request): Promise<Response> =>
      (request.url.endsWith('.json') ? null : send) ?? app.fetch(request)
    assert.deepEqual((await app.inject('/client.json')).json(), {
      user: ['GET', '/user', [200, 404, 'GONE 410'], 'application/json'],
      text: ['GET', '/text', [200]],
      page: ['GET', '/page', [200], 'text/HTML; charset=utf-8'],
      open: ['GET', '/open', ['E_VALIDATION 400']],
    })
    for (const client of [
      createClient<typeof api>('http://server.test', { fetch }),
      createClient(api, 'http://server.test', { fetch }),
    ]) {
      send = null
      assert.deepEqual((await client.user()).data, { id: 1 })
      assert.equal((await client.text()).data, 'text')
      assert.equal((await client.page()).data, '<p>')
      const reply = (status: number, type: string, body: string): void => {
        send = new Response(type ? body : body ? Buffer.from(body) : null, {
          status,
          headers: type ? { 'content-type': type } : {},
        })
      }
      const problem = 'application/problem+json'
      reply(200, 'application/vnd.user+json', '{"id":2}')
      assert.deepEqual((await client.user()).data, { id: 2 })
      reply(410, problem, '{"code":"GONE","detail":["x"]}')
      const gone = await client.user()
      assert.ok(!gone.ok && gone.code === 'GONE')
      assert.equal(gone.detail, undefined)
      for (const [call, status, type, body, message] of [
        [
          client.user,
          200,
          'text/html',
          '<h1>Sign in',
          'user: the reply 200 is text/html, not application/json',
        ],
        [
          client.user,
          200,
          'text/plain; charset=utf-8',
          'upstream timed out',
          'user: the reply 200 is text/plain, not application/json: did the API send it?',
        ],
        [client.user, 404, 'text/plain', 'no such host', 'user: the reply 404 is text/plain, not app'],
        [client.user, 200, problem, '{}', 'user: the reply 200 is not declared'],
        [client.text, 200, 'text/html', '<h1>', 'text: the reply 200 is text/html, not JSON or plain text:'],
        [client.page, 200, 'application/json', '1', 'page: the reply 200 is application/json, not text/HTML'],
        [client.user, 200, '', 'x', 'user: the reply 200 is'],
        [
          client.user,
          200,
          'application/octet-stream',
          'x',
          'user: the reply 200 is application/octet-stream',
        ],
        [client.user, 500, problem, '{"code":"GONE"}', 'user: the reply 500 is not declared'],
        [client.user, 404, problem, '{"code":"GONE"}', 'user: the reply 404 is not declared'],
        [client.user, 404, problem, '{"code":"X","detail":"y"}', 'user: the reply 404 is not declared: y'],
        [
          client.user,
          404,
          problem,
          '{"code":{},"detail":{},"title":{}}',
          'user: the reply 404 is not declared',
        ],
        [client.open, 422, problem, '{"code":"E_VALIDATION"}', 'open: the reply 422 is not declared'],
      ] as const) {
        reply(status, type, body)
        await assert.rejects(call(), (error: ClientError) => {
          assert.equal(error.name, 'ClientError')
          assert.equal(error.message.slice(0, message.length), message)
          return true
        })
      }
      // Nothing, by a proxy that does not say so.
      send = new Response(new Blob([]).stream())
      assert.equal((await client.user()).data, undefined)
      reply(304, '', '')
      await assert.rejects(client.user(), (error: ClientError) => !error.message.includes('elsewhere'))
      for (const [errors, issues] of [
        ['"x"', 0],
        ['{"length":1}', 0],
        ['[null,5,{},{"in":"body","pointer":"#","detail":5},{"in":"body","pointer":"#","detail":"d"}]', 1],
      ] as const) {
        reply(400, problem, `{"code":"E_VALIDATION","errors":${errors}}`)
        const invalid = await client.open()
        assert.ok(!invalid.ok && invalid.code === 'E_VALIDATION')
        assert.equal(invalid.issues.length, issues)
      }
    }
  })

  test('plain text is a reply where one may be text, and nowhere else', async () => {
    const app = kit.app()
    const User = z.object({ id: z.number() })
    const text = {
      text: { response: z.string() },
      either: { response: z.union([User, z.string()]) },
      some: { response: { 200: User, 202: z.string() } },
      anything: { response: z.unknown() },
      made: { response: User.transform(({ id }) => String(id)) },
      piped: { response: v.pipe(v.object({ id: v.number() }), v.transform(String)) },
      plain: { response: { type: ['object', 'string'] } },
      opaque: {
        response: {
          '~standard': { version: 1, vendor: 'strange', validate: (value: unknown) => ({ value }) },
          type: 'object',
        },
      },
      untold: {},
      empty: { response: { 200: null } },
      elsewhere: { response: { 200: User, 302: null } },
      typed: { mediaType: 'text/plain', response: User },
    } as const
    const json = {
      user: { response: User },
      users: { response: { 200: z.array(User), 202: User, 204: null } },
      plain: { response: { type: 'object', properties: { id: { type: 'number' } } } },
      typed: { mediaType: 'application/json', response: z.string() },
    } as const
    /** What only the JSON Schemas on the server tell. */
    const told = {
      union: { response: z.union([User, z.array(User)]) },
      valibot: { response: v.object({ id: v.number() }) },
      arktype: { response: type({ id: 'number' }) },
    } as const
    type Contracts = Record<string, Record<string, Route>>
    const contracts = Object.fromEntries(
      Object.entries({ text, json, told }).map(([group, options]) => [
        group,
        Object.fromEntries(
          Object.entries(options).map(([name, each]) => [
            name,
            contract.get(`/${group}/${name}`, each as never),
          ]),
        ),
      ]),
    ) as Contracts
    for (const group of Object.values(contracts))
      for (const each of Object.values(group)) app.implement(each as never, (() => {}) as never)
    app.expose(contracts)
    let send = (): Response => new Response('upstream timed out')
    const fetch = async (request: Request): Promise<Response> =>
      request.url.endsWith('.json') ? app.fetch(request) : send()
    type Calls = Record<string, Record<string, () => Promise<{ data: unknown }>>>
    const [fetching, knowing] = [
      createClient('http://server.test', { fetch }),
      createClient(contracts, 'http://server.test', { fetch }),
    ] as unknown as [Calls, Calls]
    const names = (group: object): string[] => Object.keys(group)
    for (const client of [fetching, knowing]) {
      for (const name of names(text))
        assert.equal((await client['text']?.[name]?.())?.data, 'upstream timed out', name)
      for (const name of names(json)) {
        await assert.rejects(
          client['json']?.[name]?.() as Promise<unknown>,
          {
            name: 'ClientError',
            message: /the reply 200 is text\/plain, not application\/json: did the API/,
          },
          name,
        )
      }
    }
    for (const name of names(told)) {
      await assert.rejects(fetching['told']?.[name]?.() as Promise<unknown>, { name: 'ClientError' }, name)
    }
    // JSON of any name, and nothing without a type.
    for (const client of [fetching, knowing]) {
      for (const name of ['user', 'users', 'plain']) {
        send = () =>
          new Response('{"id":1}', {
            headers: { 'content-type': 'application/vnd.user+json; charset=utf-8' },
          })
        assert.deepEqual((await client['json']?.[name]?.())?.data, { id: 1 })
        send = () => new Response(new Blob([]).stream())
        assert.equal((await client['json']?.[name]?.())?.data, undefined)
      }
    }
  })
})
