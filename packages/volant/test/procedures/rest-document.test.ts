/** Procedures in the document of an app. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { middleware, type OpenAPIOperation, openapiOf } from 'volant'
import { procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { Kit } from '../kit.ts'
import { say, tree } from './posts.ts'

const kit = new Kit()

describe('procedures over REST', () => {
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
