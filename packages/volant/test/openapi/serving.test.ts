/** The document over HTTP, and replies that are what it says. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { createApp, middleware, openapi, type OpenAPIDocument, type OpenAPIResponse } from 'volant'
import { Type } from 'typebox'
import { parse } from 'yaml'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const info = { title: 'Test', version: '1.0.0' }

const kit = new Kit()

describe('openapi', () => {
  test('the document is there as JSON and as YAML, and is one that an independent validator accepts', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    routes(app)
    await kit.serve(app, async (live) => {
      const json = await live.ask('/openapi.json')
      assert.equal(json.status, 200)
      assert.equal(json.headers['content-type'], 'application/json; charset=utf-8')
      assert.equal(json.headers['cache-control'], 'no-cache')
      const document = json.json() as OpenAPIDocument
      const yaml = await live.ask('/openapi.yaml')
      assert.equal(yaml.headers['content-type'], 'application/yaml; charset=utf-8')
      assert.deepEqual(parse(yaml.text), document)
      assert.deepEqual(await new Validator().validate(JSON.parse(JSON.stringify(document))), {
        valid: true,
      })
      assert.deepEqual(Object.keys(document.paths), ['/later', '/sub/inner/{id}', '/users', '/users/{id}'])
    })
  })

  test('who has the document is told that it is the same', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    app.get('/', () => 'ok')
    await kit.serve(app, async (live) => {
      for (const path of ['/openapi.json', '/openapi.yaml']) {
        const first = await live.ask(path)
        const etag = first.headers['etag'] as string
        assert.match(etag, /^"[\w-]{22}"$/)
        const second = await live.ask(path, { headers: { 'if-none-match': etag } })
        assert.equal(second.status, 304)
        assert.equal(second.text, '')
        assert.equal(second.headers['etag'], etag)
        const since = { 'if-modified-since': first.headers['last-modified'] as string }
        assert.equal((await live.ask(path, { headers: since })).status, 304)
        assert.equal((await live.ask(path, { headers: { 'if-none-match': '"other"' } })).status, 200)
        assert.equal((await live.ask(path, { headers: { 'if-match': '"other"' } })).status, 412)
        const head = await live.ask(path, { method: 'HEAD' })
        assert.equal(head.headers['content-length'], String(Buffer.byteLength(first.text)))
      }
    })
  })

  test('in a group, and in an app that is mounted, it is the document of the routes there', async () => {
    const api = createApp({ signals: false })
    api.register(openapi, { info, path: '/schema' })
    api.get('/things', () => 'ok')
    const app = kit.app()
    app.mount('/v1', api)
    app.group('/v2', (group) => {
      group.register(openapi, { info })
      group.get('/', () => 'ok')
    })
    app.get('/v22', () => 'ok')
    await kit.serve(app, async (live) => {
      const pathsAt = async (path: string): Promise<string[]> =>
        Object.keys(((await live.ask(path)).json() as OpenAPIDocument).paths)
      assert.deepEqual(await pathsAt('/v1/schema.json'), ['/v1/things'])
      assert.deepEqual(await pathsAt('/v2/openapi.json'), ['/v2'])
      assert.equal((await live.ask('/openapi.json')).status, 404)
    })
  })

  test('a route added after an inject is in the document', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const paths = async (): Promise<string[]> => {
      const { body } = await app.inject('/openapi.json')
      return Object.keys((JSON.parse(body.toString()) as OpenAPIDocument).paths)
    }
    assert.deepEqual(await paths(), [])
    app.get('/new', () => 'ok')
    assert.deepEqual(await paths(), ['/new'])
  })

  test('definitions of a plain schema, and recursion, are in a valid document', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const Node = { type: 'object', properties: { next: { $ref: '#/$defs/Page<Node>' } } } as const
    const definitions = { $ref: '#/$defs/Page<Node>', $defs: { 'Page<Node>': Node } } as const
    app.get('/node', { response: definitions }, () => ({ next: {} }))
    const Tree = Type.Cyclic({ Tree: Type.Object({ kids: Type.Array(Type.Ref('Tree')) }) }, 'Tree')
    app.post('/tree', { body: Tree, response: Tree }, (ctx) => ctx.body)
    app.get('/sale', { response: z.array(z.object({ a: z.string() }).meta({ id: '50% off' })) }, () => [])
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/node')).json(), { next: {} })
      const document = (await live.ask('/openapi.json')).json() as OpenAPIDocument
      assert.deepEqual(await new Validator().validate(JSON.parse(JSON.stringify(document))), {
        valid: true,
      })
      const schemas = document.components.schemas ?? {}
      const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]*)"/g)]
      for (const [, name] of refs) assert.ok(Object.hasOwn(schemas, name as string), String(name))
      assert.deepEqual(Object.keys(schemas), ['50Off', 'PageNode', 'Problem', 'Tree', 'ValidationProblem'])
      const { content } = (document.paths['/node']?.['get']?.responses['200'] ?? {}) as OpenAPIResponse
      assert.deepEqual(Object.keys(content ?? {}), ['application/json'])
    })
  })

  test('page: false is none', async () => {
    const app = kit.app()
    app.register(openapi, { info, page: false })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/docs')).status, 404)
      assert.equal((await live.ask('/openapi.json')).status, 200)
    })
  })

  test('text may be sent as JSON, and the document says so', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    app.get('/json', { response: z.string() }, (ctx) => ctx.json('x'))
    app.get('/text', { response: z.string() }, () => 'x')
    app.get('/date', { response: z.date() }, () => new Date(0))
    app.get('/typed', { response: z.string(), mediaType: 'application/json' }, (ctx) => ctx.json('x'))
    await kit.serve(app, async (live) => {
      const { paths } = (await live.ask('/openapi.json')).json() as OpenAPIDocument
      for (const path of ['/json', '/text', '/date', '/typed']) {
        const { headers } = await live.ask(path)
        const { content = {} } = (paths[path]?.['get']?.responses['200'] ?? {}) as OpenAPIResponse
        assert.ok((headers['content-type']?.split(';')[0] ?? '') in content, path)
        if (path === '/typed') assert.deepEqual(Object.keys(content), ['application/json'])
      }
    })
  })

  test('replies are what the document says', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    routes(app)
    await kit.serve(app, async (live) => {
      const document = (await live.ask('/openapi.json')).json() as OpenAPIDocument
      const id = '8f1b6c9e-52a5-4c8e-8a39-0d6f3a8f9a11'
      const authorization = { authorization: 'Bearer x' }
      const post = (type: string, body: string | Uint8Array) => live.post('/users', type, body, authorization)
      const cases = [
        ['/users/{id}', 'get', await live.ask(`/users/${id}`), 200],
        ['/users/{id}', 'get', await live.ask('/users/none'), 400],
        ['/users/{id}', 'get', await live.ask('/users/%00'), 400],
        ['/users/{id}', 'get', await live.ask(`/users/${'x'.repeat(257)}`), 414],
        ['/users/{id}', 'get', await live.ask(`/users/${id.replace('8', '9')}`), 404],
        ['/users', 'post', await post('application/json', '{"name":"Ann"}'), 201],
        ['/users', 'post', await post('application/x-www-form-urlencoded', 'name=Ann'), 201],
        ['/users', 'post', await post('application/json', '{"name":""}'), 400],
        ['/users', 'post', await post('application/json', '{'), 400],
        ['/users', 'post', await post('application/json', '{"__proto__":1}'), 400],
        ['/users', 'post', await post('application/json', new Uint8Array([0x22, 0xff, 0x22])), 400],
        ['/users', 'post', await post('application/xml', '<a/>'), 415],
        ['/users', 'post', await post('application/json', ' '.repeat(1_048_577)), 413],
        ['/users', 'post', await post('application/json', '{"name":"taken"}'), 409],
        ['/users', 'post', await live.post('/users', 'application/json', '{}'), 401],
      ] as const
      for (const [path, method, reply, status] of cases) {
        assert.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
        const said = document.paths[path]?.[method]?.responses[status] as {
          $ref?: string
          content?: object
        }
        const name = said.$ref?.split('/').at(-1)
        const { content = {} } = name === undefined ? said : (document.components.responses?.[name] ?? {})
        assert.deepEqual(Object.keys(content), [reply.headers['content-type']?.split(';')[0]])
        const { code } = reply.json() as { code?: string }
        if (code !== undefined)
          assert.match(JSON.stringify(content), new RegExp(`"${code}"|ValidationProblem`))
      }
    })
  })
})

function routes(app: ReturnType<Kit['app']>): void {
  const User = z.object({ id: z.uuid(), name: z.string() }).meta({ title: 'User' })
  const auth = middleware(
    { errors: { UNAUTHORIZED: { status: 401 } }, security: { bearer: { type: 'http', scheme: 'bearer' } } },
    async (ctx, next) => {
      if (ctx.headers['authorization'] === undefined) throw ctx.fail('UNAUTHORIZED')
      await next()
    },
  )
  app.with(auth).post(
    '/users',
    {
      body: z.object({ name: z.string().min(1) }),
      response: { 201: User },
      errors: { TAKEN: { status: 409, data: z.object({ name: z.string() }) } },
      tags: ['users'],
    },
    (ctx) => {
      if (ctx.body.name === 'taken') throw ctx.fail('TAKEN', { name: ctx.body.name })
      return ctx.reply(201, { id: '8f1b6c9e-52a5-4c8e-8a39-0d6f3a8f9a11', name: ctx.body.name })
    },
  )
  app.get(
    '/users/:id',
    { params: z.object({ id: z.uuid() }), response: User, errors: { USER_NOT_FOUND: { status: 404 } } },
    (ctx) => {
      if (!ctx.params.id.startsWith('8')) throw ctx.fail('USER_NOT_FOUND')
      return { id: ctx.params.id, name: 'Ann' }
    },
  )
  const sub = createApp({ signals: false })
  app.mount('/sub', sub)
  sub.get('/inner/:id', { response: z.string() }, () => 'ok')
  app.register(async (scope) => {
    await Promise.resolve()
    scope.get('/later', { response: { 200: z.array(User), 204: null } }, () => [])
  })
}
