/** The OpenAPI document of an app, part by part: long, since the document has many. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import {
  type App,
  before,
  createApp,
  middleware,
  openapi,
  type OpenAPIDocument,
  type OpenAPIResponse,
  type OpenAPITag,
  openapiOf,
  type Schema,
  validate,
  type VolantError,
} from 'volant'
import { stringify } from 'yaml'
import * as z from 'zod'
import { jsonOf, yamlOf } from '../src/openapi/publish.ts'
import { templatesOf } from '../src/openapi/path-templates.ts'

const info = { title: 'Test', version: '1.0.0' }

describe('path templates', () => {
  for (const [pattern, paths] of [
    ['/', ['/']],
    ['/users', ['/users']],
    ['/users/:id', ['/users/{id}']],
    ['/:value.svg', ['/{value}.svg']],
    ['/a/::b', ['/a/:b']],
    ['/a/:x?/:y?', ['/a', '/a/{x}', '/a/{x}/{y}']],
    ['/:lang?', ['/', '/{lang}']],
    ['/files/*', ['/files/{rest}']],
    ['/files/*path', ['/files/{path}']],
    ['/:rest/*', ['/{rest}/{rest_}']],
    ['/ä b'.replace(' ', '%20'), ['/%C3%A4%20b']],
  ] as const) {
    test(pattern, () => {
      assert.deepEqual(
        templatesOf(pattern).map(({ path }) => path),
        paths,
      )
    })
  }
})

describe('openapiOf', () => {
  test('one document of everything is as it was', async () => {
    const fixture = new URL('../../test/fixtures/openapi.json', import.meta.url)
    const text = `${JSON.stringify(openapiOf(everything(), { info, servers: [{ url: 'https://api.example' }] }), null, 2)}\n`
    if (process.env['UPDATE_FIXTURES'] === '1') await writeFile(fixture, text)
    assert.equal(text, await readFile(fixture, 'utf8'))
  })

  test('it is the same in whatever order routes are registered', () => {
    const Point = z.object({ x: z.number() })
    const make = (reversed: boolean): string => {
      const app = createApp({ signals: false })
      const steps = [
        () => app.get('/a/:id', { response: Point }, () => ({ x: 1 })),
        () => app.post('/a/:name', { body: Point }, () => 'ok'),
        () => app.get('/b', { response: z.array(Point), tags: ['z'] }, () => []),
        () => app.put('/a', { body: Point, tags: ['a'] }, () => 'ok'),
      ]
      for (const step of reversed ? steps.toReversed() : steps) step()
      return JSON.stringify(openapiOf(app, { info }))
    }
    assert.equal(make(true), make(false))
  })

  test('one more route adds what is its own, and changes nothing else', () => {
    const Id = z.object({ id: z.string() })
    const routes: ((app: App) => unknown)[] = [
      (app) => app.get('/m/:id', () => 'ok'),
      (app) => app.get('/n/:id', { params: Id }, () => 'ok'),
      (app) => app.get('/o/:id', { params: Id, query: z.object({ q: z.string() }) }, () => 'ok'),
      (app) => app.get('/p/:id', { query: z.object({ q: z.number() }) }, () => 'ok'),
      (app) => app.get('/q', { query: z.object({ q: z.string() }) }, () => 'ok'),
      (app) => app.get('/r', { headers: z.object({ 'x-a': z.string() }) }, () => 'ok'),
      (app) => app.post('/s', { body: z.object({ s: z.string() }) }, () => 'ok'),
      (app) => app.post('/t/:id', { body: z.object({ t: z.string() }) }, () => 'ok'),
      (app) => app.post('/u', { body: z.object({ u: z.string() }), query: z.object({}) }, () => 'ok'),
      (app) => app.post('/v', { bodyMode: 'stream' }, () => 'ok'),
    ]
    const make = (made: readonly ((app: App) => unknown)[]): OpenAPIDocument => {
      const app = createApp({ signals: false })
      for (const each of made) each(app)
      return openapiOf(app, { info })
    }
    const all = make(routes)
    for (const route of routes) {
      const { paths, components } = make(routes.filter((each) => each !== route))
      for (const [path, item] of Object.entries(paths)) assert.deepEqual(item, all.paths[path], path)
      for (const [name, response] of Object.entries(components.responses ?? {})) {
        assert.deepEqual(response, all.components.responses?.[name], name)
      }
    }
    for (const [path, item] of Object.entries(all.paths)) {
      const [method = ''] = Object.keys(item)
      const told = Object.values(item[method]?.responses ?? {}).flatMap((each) => {
        const name = '$ref' in each ? each.$ref.replace('#/components/responses/', '') : ''
        const { description = '' } = all.components.responses?.[name] ?? {}
        return [...description.matchAll(/`(E_\w+)`/g)].map(([, code]) => code)
      })
      // Every reference leads to what the route itself can give.
      const query = ['/o/{id}', '/p/{id}', '/q', '/u'].includes(path)
      assert.equal(told.includes('E_QUERY_TOO_MANY_KEYS'), query, path)
      assert.equal(told.includes('E_PARAM_TOO_LONG'), path.includes('{'), path)
      assert.equal(told.includes('E_JSON_DEPTH'), method === 'post' && path !== '/v', path)
      assert.equal(told.includes('E_VALIDATION'), !['/m/{id}', '/v'].includes(path), path)
    }
  })

  test('paths that differ in names alone are one path with one set of names', () => {
    const app = createApp({ signals: false })
    app.get('/users/:id', { params: z.object({ id: z.uuid() }) }, () => 'ok')
    app.put('/users/:name', { params: z.object({ name: z.string().max(5) }) }, () => 'ok')
    const { paths } = openapiOf(app, { info })
    assert.deepEqual(Object.keys(paths), ['/users/{id}'])
    assert.deepEqual(paths['/users/{id}']?.['put']?.parameters, [
      { name: 'id', in: 'path', required: true, schema: { type: 'string', maxLength: 5 } },
    ])
  })

  test('hidden routes, QUERY, and what include refuses are left out', () => {
    const app = createApp({ signals: false })
    app.get('/seen', () => 'ok')
    app.get('/secret', { hidden: true }, () => 'ok')
    app.get('/internal', () => 'ok')
    app.on(['QUERY'], '/query', () => 'ok')
    const { paths } = openapiOf(app, { info, include: ({ path }) => path !== '/internal' })
    assert.deepEqual(Object.keys(paths), ['/seen'])
  })

  test('ids are those of routes, else made of method and path, and never twice', () => {
    const app = createApp({ signals: false })
    app.get('/users/:id/:part?', { operationId: 'users.get' }, () => 'ok')
    app.get('/users', () => 'ok')
    app.get('/get-users', { operationId: 'getBadgeByValueSvg' }, () => 'ok')
    app.get('/badge/:value.svg', () => 'ok')
    const inner = createApp({ signals: false })
    inner.get('/x', { operationId: 'x' }, () => 'ok')
    app.mount('/one', inner)
    app.mount('/two', inner)
    assert.deepEqual(idsOf(openapiOf(app, { info })), {
      'GET /badge/{value}.svg': 'getBadgeByValueSvg2',
      'GET /get-users': 'getBadgeByValueSvg',
      'GET /one/x': 'x',
      'GET /two/x': 'x2',
      'GET /users': 'getUsers',
      'GET /users/{id}': 'users.getWithoutPart',
      'GET /users/{id}/{part}': 'users.get',
    })
  })

  test('tags stand in the order they are given, with all that is said of them; others come after, by name', () => {
    const app = createApp({ signals: false })
    for (const tag of ['health', 'zoo', 'animals', 'users']) app.get(`/${tag}`, { tags: [tag] }, () => 'ok')
    const tags: OpenAPITag[] = [
      { name: 'users', 'x-displayName': 'Users', description: 'Who may sign in' },
      { name: 'health', 'x-displayName': 'Monitoring' },
    ]
    assert.deepEqual(openapiOf(app, { info, tags }).tags, [...tags, { name: 'animals' }, { name: 'zoo' }])
  })

  test('two routes of one operationId are refused by name, before the app starts', () => {
    const app = createApp({ signals: false })
    app.get('/a', { operationId: 'x' }, () => 'ok')
    app.post('/b', { operationId: 'x' }, () => 'ok')
    app.get('/internal', { operationId: 'y', hidden: true }, () => 'ok')
    app.get('/c', { operationId: 'y' }, () => 'ok')
    assert.throws(() => openapiOf(app, { info }), {
      code: 'E_OPERATION_ID',
      message: /GET \/a and POST \/b both have the operationId "x"/,
    })
    const { paths } = openapiOf(app, { info, include: ({ path }) => path !== '/b' })
    assert.deepEqual(Object.keys(paths), ['/a', '/c'])
  })

  test('two mounted apps may call a route the same', () => {
    const app = createApp({ signals: false })
    for (const prefix of ['/one', '/two']) {
      const inner = createApp({ signals: false })
      inner.expose({ list: inner.get('/list', () => 'ok') }, { path: false })
      app.mount(prefix, inner)
    }
    assert.deepEqual(idsOf(openapiOf(app, { info })), { 'GET /one/list': 'list', 'GET /two/list': 'list2' })
  })

  test('two security schemes of one name are refused, with the route', () => {
    const guard = (scheme: string) =>
      middleware({ security: { auth: { type: 'http', scheme } } }, (_, next) => next())
    const app = createApp({ signals: false })
    app.get('/a', guard('basic'), () => 'ok')
    app.get('/b', guard('bearer'), () => 'ok')
    assert.throws(
      () => openapiOf(app, { info }),
      (error: VolantError) =>
        error.code === 'E_BAD_OPTION' && error.message.includes('"auth" of GET /b is not the one'),
    )
  })

  test('a scheme that nobody declares is refused; one of a middleware elsewhere is there', () => {
    const app = createApp({ signals: false })
    app.get('/a', { security: [{ key: [] }, { none: [] }] }, () => 'ok')
    const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'x-key' } }
    assert.throws(
      () => openapiOf(app, { info, securitySchemes }),
      (error: VolantError) =>
        error.code === 'E_BAD_OPTION' &&
        error.message.includes('of GET /a requires the scheme "none", which no middleware declares'),
    )
    assert.throws(() => openapiOf(createApp({ signals: false }), { info, security: [{ key: [] }] }), {
      message: /of the document requires the scheme "key"/,
    })
    const none = { type: 'http', scheme: 'bearer' }
    app.get(
      '/b',
      middleware({ security: { none } }, (_, next) => next()),
      () => 'ok',
    )
    const { components } = openapiOf(app, { info, securitySchemes, include: ({ path }) => path === '/a' })
    assert.deepEqual(components.securitySchemes, { ...securitySchemes, none })
  })

  test('a parameter and the rest of a path are one path: the parameter is there, whatever came first', () => {
    for (const paths of [
      ['/u/:zed', '/u/*'],
      ['/u/*', '/u/:zed'],
    ]) {
      const app = createApp({ signals: false })
      for (const path of paths) app.get(path, { operationId: path }, () => 'ok')
      app.post('/u/*path', () => 'ok')
      assert.deepEqual(idsOf(openapiOf(app, { info })), {
        'GET /u/{zed}': '/u/:zed',
        'POST /u/{zed}': 'postUByPath',
      })
    }
  })

  test('schemas of validate() are there: of the outermost what clients send', () => {
    const app = createApp({ signals: false })
    app.use('/a', validate({ query: z.object({ page: z.coerce.number().optional() }) }))
    app.use('/b', validate({ query: z.object({ never: z.string() }) }))
    app.use('/:any', validate({ query: z.object({ all: z.string() }) }))
    const body = z.object({ name: z.number() })
    const query = z.object({ page: z.number(), size: z.string().optional() })
    app
      .with(validate({ body, headers: z.object({ 'x-a': z.string() }) }))
      .post('/a', { query, body: z.object({ other: z.string() }) }, () => 'ok')
    app.get('/:part', () => 'ok')
    const { paths } = openapiOf(app, { info })
    const post = paths['/a']?.['post']
    assert.deepEqual(
      post?.parameters?.map(({ in: part, name, required }) => [part, name, required === true]),
      [
        ['query', 'page', true],
        ['query', 'all', true],
        ['query', 'size', false],
        ['header', 'x-a', true],
      ],
    )
    const json = post?.requestBody?.content['application/json']?.schema
    assert.deepEqual(Object.keys(json?.['properties'] ?? {}), ['name'])
    assert.ok('400' in (post?.responses ?? {}))
    const get = paths['/{part}']?.['get']
    assert.deepEqual(
      get?.parameters?.map(({ name }) => name),
      ['part'],
    )
  })

  for (const [examples, message] of [
    ['x', 'examples takes { body, response }, not "x"'],
    [{ bodies: {} }, 'examples has no option "bodies"'],
    [{ body: { a: { value: 1n } } }, 'examples.body.a.value takes what JSON can write, not 1n'],
    [{ body: { a: { value: undefined } } }, 'examples.body.a.value takes what JSON can write'],
    [{ body: { a: { values: 1 } } }, 'examples.body.a takes { value }'],
    [{ body: [] }, 'examples.body takes examples by name'],
    [{ response: { ok: {} } }, 'examples.response takes examples by status'],
    [{ response: { 200: { a: { value: 1, summary: 1 } } } }, 'examples.response.200.a.summary takes a text'],
  ] as const) {
    test(`examples: ${message}`, () => {
      assert.throws(
        () => createApp({ signals: false }).get('/a', { examples } as never, () => 'ok'),
        (error: VolantError) => {
          assert.equal(error.code, 'E_BAD_OPTION')
          assert.ok(error.message.includes(`/a: ${message}`), error.message)
          return true
        },
      )
    })
  }

  test('the security of a route is all its middleware ask for, unless it says otherwise', () => {
    const need = (name: string) =>
      middleware({ security: { [name]: { type: 'http', scheme: name } } }, (_, next) => next())
    const app = createApp({ signals: false })
    app.use(need('basic'))
    app.get('/both', need('bearer'), () => 'ok')
    app.get('/open', { security: [] }, () => 'ok')
    app.get('/either', { security: [{ basic: [] }, { bearer: ['read'] }] }, need('bearer'), () => 'ok')
    const { paths, components } = openapiOf(app, { info })
    assert.deepEqual(paths['/both']?.['get']?.security, [{ basic: [], bearer: [] }])
    assert.deepEqual(paths['/open']?.['get']?.security, [])
    assert.deepEqual(paths['/either']?.['get']?.security, [{ basic: [] }, { bearer: ['read'] }])
    assert.deepEqual(Object.keys(components.securitySchemes ?? {}), ['basic', 'bearer'])
  })

  test('a middleware that takes either of two schemes asks for either, together with what others ask for', () => {
    const bearer = { type: 'http', scheme: 'bearer' }
    const cookie = { type: 'apiKey', in: 'cookie', name: 'session' }
    const key = { type: 'apiKey', in: 'header', name: 'x-key' }
    const session = before({ security: [{ bearer }, { cookie }] }, () => {})
    const app = createApp({ signals: false })
    const clerks = app.with(session)
    clerks.get('/either', () => 'ok')
    clerks.get(
      '/and-a-key',
      before({ security: { key } }, () => {}),
      () => 'ok',
    )
    clerks.get(
      '/and-one-of',
      before({ security: [{ cookie }, { key }] }, () => {}),
      () => 'ok',
    )
    clerks.get('/twice', session, () => 'ok')
    clerks.get(
      '/own',
      { security: [{ key: [] }] },
      before({ security: { key } }, () => {}),
      () => 'ok',
    )
    app.get(
      '/or-nobody',
      before({ security: [{ bearer }, {}] }, () => {}),
      () => 'ok',
    )
    app.get(
      '/nothing',
      before({ security: {} }, () => {}),
      () => 'ok',
    )
    const { paths, components } = openapiOf(app, { info })
    const asked = (path: string) => paths[path]?.['get']?.security
    assert.deepEqual(asked('/either'), [{ bearer: [] }, { cookie: [] }])
    assert.deepEqual(asked('/and-a-key'), [
      { bearer: [], key: [] },
      { cookie: [], key: [] },
    ])
    assert.deepEqual(asked('/and-one-of'), [
      { bearer: [], cookie: [] },
      { bearer: [], key: [] },
      { cookie: [] },
      { cookie: [], key: [] },
    ])
    assert.deepEqual(asked('/twice'), [{ bearer: [] }, { cookie: [] }])
    assert.deepEqual(asked('/own'), [{ key: [] }])
    assert.deepEqual(asked('/or-nobody'), [{ bearer: [] }, {}])
    assert.equal(asked('/nothing'), undefined)
    assert.deepEqual(components.securitySchemes, { bearer, cookie, key })
  })

  for (const [options, message] of [
    [undefined, 'openapiOf'],
    [{}, 'openapiOf: info'],
    [{ info: { title: 'x' } }, 'openapiOf: info takes { title, version }, both text; version is missing'],
    [{ title: 'x' }, 'openapiOf has no option "title": info: { title, version }'],
    [{ info, server: [] }, 'openapiOf has no option "server"; did you mean "servers"?'],
    [{ info, include: 'all' }, 'openapiOf: include'],
  ] as const) {
    test(`${JSON.stringify(options)} is refused`, () => {
      assert.throws(
        () => openapiOf(createApp({ signals: false }), options as never),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.startsWith(message),
      )
    })
  }
})

describe('a document that is published', () => {
  const textOf = (steps: Generator<void, string>): string => {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
    }
  }

  test('its texts, written in steps, are those of JSON.stringify and of yaml', () => {
    const app = everything()
    app.get('/lines', { description: 'One\n\n  two\n\nthree', tags: ['- x', 'null'] }, () => 'ok')
    for (const document of [
      openapiOf(app, {
        info,
        servers: [{ url: 'https://api.example' }],
        externalDocs: { url: 'https://a.example' },
      }),
      openapiOf(createApp({ signals: false }), { info }),
    ]) {
      assert.equal(textOf(jsonOf(document)), JSON.stringify(document))
      const options = { aliasDuplicateObjects: false, lineWidth: 0 }
      assert.equal(textOf(yamlOf(document, stringify)), stringify(document, options))
    }
  })

  test('it is made once for all who ask, and others are served meanwhile', async () => {
    const app = createApp({ signals: false })
    app.register(openapi, { info })
    app.get('/ping', () => 'pong')
    let converted = 0
    // A conversion keeps the thread for a millisecond: all of them take far longer than one slice.
    const slow = (): object => {
      converted++
      const end = performance.now() + 1
      while (performance.now() < end);
      return { type: 'object', properties: {} }
    }
    const routes = 100
    for (let at = 0; at < routes; at++) {
      const schema = {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) => ({ value }),
          jsonSchema: { input: slow, output: slow },
        },
      } as Schema
      app.get(`/${at}`, { response: schema }, () => ({}))
    }
    const order: string[] = []
    const ask = async (path: string): Promise<string> => {
      const { body } = await app.inject(path)
      order.push(path)
      return String(body)
    }
    await app.inject('/ping')
    const asked = ['/openapi.json', '/openapi.json', '/ping']
    const [first, second] = await Promise.all(asked.map(ask))
    assert.equal(first, second)
    assert.equal(converted, routes)
    assert.deepEqual(order, ['/ping', '/openapi.json', '/openapi.json'])
  })

  test('a document that cannot be made is tried again by the next request', async () => {
    const app = createApp({ signals: false, report: () => {} })
    let isWrong = true
    const include = (): boolean => {
      if (isWrong) throw new Error('not now')
      return true
    }
    app.get('/a', () => 'ok')
    isWrong = false
    app.register(openapi, { info, include })
    await app.inject('/a')
    isWrong = true
    assert.equal((await app.inject('/openapi.json')).status, 500)
    isWrong = false
    assert.equal((await app.inject('/openapi.json')).status, 200)
  })
})

describe('schemas in a document', () => {
  /** As a library would hand them over. */
  const plain = (input: object, output: object = input): Schema =>
    ({
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value: unknown) => ({ value }),
        jsonSchema: { input: () => input, output: () => output },
      },
    }) as Schema

  const replying = (schemas: Record<string, Schema>): OpenAPIDocument => {
    const app = createApp({ signals: false })
    for (const [path, response] of Object.entries(schemas))
      app.get(path, { response }, () => undefined as never)
    return openapiOf(app, { info })
  }
  const schemaAt = (document: OpenAPIDocument, path: string): unknown => {
    const reply = document.paths[path]?.['get']?.responses['200']
    return reply !== undefined && 'content' in reply ? reply.content?.['application/json']?.schema : undefined
  }
  const named = ({ components }: OpenAPIDocument): string[] =>
    Object.keys(components.schemas ?? {}).filter((name) => !['Problem', 'ValidationProblem'].includes(name))

  test('a schema with a title is a component wherever it is used; one without stands where it is used', () => {
    const Toy = { type: 'object', properties: { a: { type: 'string' } }, title: 'Toy' }
    const nameless = { type: 'object', properties: { b: { type: 'string' } } }
    const toys = { type: 'array', items: Toy, title: 'Toys' }
    const document = replying({
      '/inside': plain({ type: 'object', properties: { toy: { ...Toy } } }),
      '/toy': plain({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...Toy }),
      '/toys': plain(toys),
      '/nameless': plain(nameless),
      '/again': plain(nameless),
      '/data': plain({ const: Toy }),
    })
    const reference = { $ref: '#/components/schemas/Toy' }
    assert.deepEqual(schemaAt(document, '/inside'), { type: 'object', properties: { toy: reference } })
    assert.deepEqual(schemaAt(document, '/toy'), reference)
    // Only objects and unions are components.
    assert.deepEqual(schemaAt(document, '/toys'), { ...toys, items: reference })
    assert.deepEqual(schemaAt(document, '/nameless'), nameless)
    assert.deepEqual(schemaAt(document, '/again'), nameless)
    assert.deepEqual(schemaAt(document, '/data'), { const: Toy })
    assert.deepEqual(named(document), ['Toy'])
    assert.deepEqual(document.components.schemas?.['Toy'], Toy)
  })

  test('what one use says about a schema with a title stands beside the reference', () => {
    const Address = z
      .object({ city: z.string() })
      .meta({ title: 'Address', description: 'Where somebody lives' })
    const Customer = z
      .object({
        home: Address,
        bill: Address.describe('Where bills go'),
        old: Address.meta({ deprecated: true }),
      })
      .meta({ title: 'Customer', description: 'Somebody who buys' })
    const document = replying({ '/a': Address, '/b': z.array(Customer), '/c': Customer })
    assert.deepEqual(named(document), ['Address', 'Customer'])
    const { schemas = {} } = document.components
    const $ref = '#/components/schemas/Address'
    assert.equal(schemas['Customer']?.['description'], 'Somebody who buys')
    assert.deepEqual(schemas['Customer']?.['properties'], {
      home: { description: 'Where somebody lives', $ref },
      bill: { description: 'Where bills go', $ref },
      old: { description: 'Where somebody lives', deprecated: true, $ref },
    })
    assert.deepEqual(schemaAt(document, '/a'), { description: 'Where somebody lives', $ref })
    assert.deepEqual(schemaAt(document, '/c'), { $ref: '#/components/schemas/Customer' })
    assert.equal(schemas['Address']?.['description'], undefined)
  })

  test('different schemas of one title are numbered, as are those that contain them', () => {
    const address = (more: object) => ({
      type: 'object',
      properties: { city: {}, ...more },
      title: 'Address',
    })
    const order = (more: object) =>
      plain({ type: 'object', properties: { to: address(more), next: { $ref: '#' } }, title: 'Order' })
    const about = { type: 'string', description: 'Of the house' }
    const routes = {
      '/a': order({}),
      '/b': order({ zip: {} }),
      '/c': order({}),
      '/d': order({ number: about }),
    }
    for (const each of [Object.entries(routes), Object.entries(routes).toReversed()]) {
      const document = replying(Object.fromEntries(each))
      assert.deepEqual(named(document), ['Address', 'Address2', 'Address3', 'Order', 'Order2', 'Order3'])
      const { schemas = {} } = document.components
      const [first, second] = ['Order', 'Order2'].map((name) => schemas[name]?.['properties'])
      assert.deepEqual(first, {
        to: { $ref: '#/components/schemas/Address' },
        next: { $ref: '#/components/schemas/Order' },
      })
      assert.deepEqual(second, {
        to: { $ref: '#/components/schemas/Address2' },
        next: { $ref: '#/components/schemas/Order2' },
      })
      const paths = ['/a', '/b', '/c', '/d'].map(
        (path) => (schemaAt(document, path) as { $ref: string }).$ref,
      )
      assert.deepEqual(
        paths.map((path) => path.replace('#/components/schemas/', '')),
        ['Order', 'Order2', 'Order', 'Order3'],
      )
    }
  })

  test('names: title, id, then the operation; what is sent and what is received apart where they differ', () => {
    const object = (title: string, more: object = {}): Schema =>
      plain({ type: 'object', properties: {}, title, ...more })
    const app = createApp({ signals: false })
    app.post(
      '/a',
      {
        body: plain(
          { properties: {}, title: 'user account' },
          { properties: {}, title: 'user account', required: [] },
        ),
        response: object('Problem'),
      },
      () => ({}),
    )
    const both = plain(
      { properties: {}, title: 'Both' },
      { properties: {}, title: 'Both', additionalProperties: false },
    )
    app.post('/b', { body: both, response: both }, () => ({}))
    const byId = plain({ $id: 'https://example.com/schemas/thing.schema.json', properties: {} })
    app.get('/c', { response: byId }, () => ({}))
    app.get('/d', { response: byId }, () => ({}))
    app.get('/e', { response: object('Both') }, () => ({}))
    assert.deepEqual(named(openapiOf(app, { info })), ['Both', 'Both2', 'Problem2', 'UserAccount', 'thing'])
  })

  test('what differs by closed objects alone is one component, in the form that holds for both', () => {
    const Toy = z.object({ name: z.string() })
    const Cat = z.object({ name: z.string(), toys: z.array(Toy) }).meta({ title: 'Cat' })
    const Money = z.object({ amount: z.number() }).meta({ id: 'Money' })
    const Strict = z.strictObject({ a: z.string() }).meta({ title: 'Strict' })
    const Sent = z.object({ a: z.string() }).meta({ title: 'Sent' })
    const Filled = z.object({ a: z.string().default('x') }).meta({ title: 'Filled' })
    const Nameless = z.object({ money: Money })
    const app = createApp({ signals: false })
    for (const [path, schema] of Object.entries({ Cat, Strict, Filled, Nameless }))
      app.post(`/${path}`, { body: schema, response: { 201: schema } }, () => undefined as never)
    app.get('/owner', { response: z.object({ cat: Cat }) }, () => undefined as never)
    app.get('/sent', { response: Sent }, () => undefined as never)
    const document = openapiOf(app, { info })
    assert.deepEqual(named(document), ['Cat', 'Filled', 'FilledInput', 'Money', 'Sent', 'Strict'])
    const { schemas = {} } = document.components
    const isClosed = (name: string): boolean => schemas[name]?.['additionalProperties'] === false
    // Clients may send more, which is left out; what they are sent is within the same words.
    assert.deepEqual(Object.keys(schemas).filter(isClosed), ['Filled', 'Sent', 'Strict'])
    assert.deepEqual(schemaAt(document, '/owner'), {
      type: 'object',
      properties: { cat: { $ref: '#/components/schemas/Cat' } },
      required: ['cat'],
      additionalProperties: false,
    })
    assert.equal(JSON.stringify(schemas['Cat']).includes('additionalProperties'), false)
    // Generators call a type by its title.
    assert.deepEqual(
      [schemas['Filled']?.['title'], schemas['FilledInput']?.['title']],
      ['Filled', 'FilledInput'],
    )
    assert.deepEqual(dangling(document), [])
  })

  test('what is closed for clients and open for who is sent it stays two components', () => {
    const both = plain(
      { type: 'object', properties: {}, title: 'Both', additionalProperties: false },
      { type: 'object', properties: {}, title: 'Both' },
    )
    const app = createApp({ signals: false })
    app.post('/b', { body: both, response: both }, () => ({}))
    assert.deepEqual(named(openapiOf(app, { info })), ['Both', 'BothInput'])
  })

  test('a nameless schema that refers to itself is one component, wherever it stands', () => {
    const Echo = z.object({
      text: z.string(),
      get replies() {
        return z.array(Echo)
      },
    })
    const Tree = z.object({
      get kids() {
        return z.array(Tree)
      },
    })
    const app = createApp({ signals: false })
    app.post('/echo', { body: z.array(Echo), response: z.array(Echo) }, () => [])
    app.get('/echoes', { response: z.object({ first: Echo }) }, () => undefined as never)
    app.post('/tree', { body: Tree, response: Tree }, () => undefined as never)
    const document = openapiOf(app, { info })
    assert.deepEqual(named(document), ['PostEchoBodyPart', 'PostTreeBody'])
    assert.deepEqual(dangling(document), [])
  })

  test('a union of components that one constant tells apart has a discriminator', () => {
    const kind = (name: string, more: object = {}) =>
      z.object({ id: z.literal('x'), kind: z.literal(name), ...more }).meta({ title: name })
    const Cat = kind('cat', { lives: z.number() })
    const Dog = kind('dog')
    const Bird = z.object({ id: z.literal('x'), kind: z.literal('bird').optional() }).meta({ title: 'bird' })
    const document = replying({
      '/cat': Cat,
      '/dog': Dog,
      '/bird': Bird,
      '/pet': z.discriminatedUnion('kind', [Cat, Dog]),
      '/list': z.array(z.union([Dog, Cat])),
      // Its kind may be absent; another one has no title.
      '/any': z.object({ pet: z.union([Cat, Bird]) }),
      '/inline': z.object({ pet: z.discriminatedUnion('kind', [Cat, z.object({ kind: z.literal('fox') })]) }),
    })
    const reference = (name: string): string => `#/components/schemas/${name}`
    const discriminator = { propertyName: 'kind', mapping: { cat: reference('Cat'), dog: reference('Dog') } }
    const told = JSON.stringify(document).match(/"discriminator":\{[^}]*\}/g) ?? []
    assert.equal(told.length, 2)
    const pet = schemaAt(document, '/pet') as Record<string, unknown>
    assert.deepEqual(pet['discriminator'], discriminator)
    const { items } = schemaAt(document, '/list') as { items: Record<string, unknown> }
    assert.deepEqual(items['discriminator'], discriminator)
  })

  test('letters that a name of a component cannot have are written as those it can', () => {
    const titles = ['Übel/Name #1 ~', 'Größe', 'Smørrebrød', '用户', '用户2']
    const app = createApp({ signals: false })
    for (const [at, title] of titles.entries())
      app.get(
        `/${at}`,
        { response: plain({ type: 'object', properties: {}, title, maxProperties: at }) },
        () => ({}),
      )
    assert.deepEqual(named(openapiOf(app, { info })), ['2', 'Grosse', 'Smorrebrod', 'UbelName1'])
  })

  test('data of an error is a component if it has a title', () => {
    const Missing = plain({ type: 'object', properties: { id: { type: 'string' } } })
    const Late = plain({ type: 'object', title: 'Too late', properties: { by: { type: 'integer' } } })
    const app = createApp({ signals: false })
    const errors = { MISSING: { status: 404, data: Missing }, LATE: { status: 409, data: Late } }
    for (const path of ['/a', '/b']) app.get(path, { errors }, () => 'ok')
    assert.deepEqual(named(openapiOf(app, { info })), ['TooLate'])
  })

  test('a name that is made of an operation gives way to a title', () => {
    const Body = plain({ type: 'object', title: 'GetAGone', properties: { own: { type: 'string' } } })
    const list = (name: string) => plain({ properties: { [name]: {}, next: { $ref: '#' } } })
    const app = createApp({ signals: false })
    app.get('/a', { errors: { GONE: { status: 410, data: list('q') } } }, () => 'ok')
    app.post('/y', { body: Body, response: list('p') }, () => ({ title: 'x' }))
    const { schemas = {} } = openapiOf(app, { info }).components ?? {}
    const { GetAGone, GetAGone2, PostYOutput } = schemas
    assert.deepEqual(
      [GetAGone, GetAGone2, PostYOutput].map((each) => Object.keys(each?.['properties'] ?? {})),
      [['own'], ['q', 'next'], ['p', 'next']],
    )
  })

  test('bounds of safe integers are a format, in requests and in replies', () => {
    const app = createApp({ signals: false })
    const Count = z
      .object({
        n: z.int(),
        few: z.int().max(5),
        more: z.int().positive(),
        age: z.int().min(0).max(150),
        list: z.array(z.int()),
      })
      .meta({ title: 'Count' })
    app.post('/a', { body: Count, response: Count }, (ctx) => ctx.body)
    const { requestBody, responses } = openapiOf(app, { info }).paths['/a']?.['post'] ?? {}
    const { content } = (responses?.['200'] ?? {}) as OpenAPIResponse
    const $ref = '#/components/schemas/Count'
    assert.deepEqual(content?.['application/json']?.schema, { $ref })
    assert.deepEqual(requestBody?.content['application/json']?.schema, { $ref })
    assert.deepEqual(openapiOf(app, { info }).components.schemas?.['Count']?.['properties'], {
      n: { type: 'integer', format: 'double-int' },
      few: { type: 'integer', format: 'double-int', maximum: 5 },
      more: { type: 'integer', format: 'double-int', exclusiveMinimum: 0 },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      list: { type: 'array', items: { type: 'integer', format: 'double-int' } },
    })
  })

  test('whole numbers of the query of a plain schema are those that a double holds, as they are when they are read', async () => {
    const app = createApp({ signals: false })
    const query = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        ids: { type: 'array', items: { type: 'integer', minimum: 0 } },
        age: { type: 'integer', minimum: 0, maximum: 150 },
      },
    } as const
    app.get('/a', { query }, (ctx) => ctx.json(ctx.query))
    const parameters = openapiOf(app, { info }).paths['/a']?.['get']?.parameters ?? []
    assert.deepEqual(
      parameters.map(({ schema }) => schema),
      [
        { type: 'integer', format: 'double-int' },
        { type: 'array', items: { type: 'integer', minimum: 0, format: 'double-int' } },
        { type: 'integer', minimum: 0, maximum: 150 },
      ],
    )
    const statusOf = async (id: string): Promise<number> => (await app.inject(`/a?id=${id}`)).status
    assert.deepEqual([await statusOf('9007199254740991'), await statusOf('9007199254740993')], [200, 400])
  })

  test('schemas are in words that generators of clients can read', () => {
    const forms: [schema: object, expected: object][] = [
      [
        z.tuple([z.number(), z.string()]),
        {
          type: 'array',
          prefixItems: [{ type: 'number' }, { type: 'string' }],
          items: {},
          minItems: 2,
          maxItems: 2,
        },
      ],
      [
        z.tuple([z.string()], z.number()),
        { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' }, minItems: 1 },
      ],
      [
        { type: 'array', prefixItems: [{ type: 'string' }], items: false, maxItems: 5 },
        { type: 'array', prefixItems: [{ type: 'string' }], items: {}, maxItems: 1 },
      ],
      [
        { type: 'array', items: false },
        { type: 'array', items: {}, maxItems: 0 },
      ],
      [{ type: 'array' }, { type: 'array', items: {} }],
      [
        { type: 'object', properties: { a: true, b: { not: true } }, additionalProperties: false },
        { type: 'object', properties: { a: {}, b: { not: {} } }, additionalProperties: false },
      ],
      [
        { type: 'object', patternProperties: { '^c': false } },
        { type: 'object', patternProperties: { '^c': { not: {} } } },
      ],
      [
        { type: ['string', 'number', 'boolean'], minLength: 1 },
        { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }], minLength: 1 },
      ],
      [
        { type: ['string', 'integer'], anyOf: [{ const: 'a' }, { const: 1 }] },
        {
          anyOf: [{ const: 'a' }, { const: 1 }],
          allOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }],
        },
      ],
      [{ type: ['string', 'null'] }, { type: ['string', 'null'] }],
      [{ type: ['integer'] }, { type: 'integer' }],
      [
        z.literal(['a', 1, true, null, 'b']),
        {
          anyOf: [
            { type: 'string', enum: ['a', 'b'] },
            { type: 'number', enum: [1] },
            { type: 'boolean', enum: [true] },
            { type: 'null' },
          ],
        },
      ],
      [z.literal(['a', null]), { enum: ['a', null] }],
      [z.json(), {}],
      [
        z.looseObject({ any: z.json() }),
        { type: 'object', properties: { any: {} }, required: ['any'], additionalProperties: {} },
      ],
    ]
    // They are declared as items of a body, which nobody sends as text.
    const routes = forms.map(([schema], at) => [
      `/${at}`,
      schema instanceof z.ZodType ? z.array(schema) : plain({ type: 'array', items: schema }),
    ])
    const document = replying(Object.fromEntries(routes))
    for (const [at, [, expected]] of forms.entries())
      assert.deepEqual(schemaAt(document, `/${at}`), { type: 'array', items: expected })
  })

  test('a tuple is checked as ever, whatever words the document has for it', async () => {
    const app = createApp({ signals: false })
    const closed = { type: 'array', prefixItems: [{ type: 'number' }], items: false } as const
    app.post('/plain', { body: closed }, () => 'ok')
    app.post('/zod', { body: z.tuple([z.number()]) }, () => 'ok')
    openapiOf(app, { info })
    for (const path of ['/plain', '/zod']) {
      const post = async (json: unknown): Promise<number> =>
        (await app.inject({ method: 'POST', url: path, body: json })).status
      assert.deepEqual([await post([1]), await post([1, 2])], [200, 400], path)
    }
  })

  test('definitions become components, once for all schemas that have them, and recursion works', () => {
    const defs = {
      $defs: {
        Node: { type: 'object', properties: { next: { $ref: '#/$defs/Node' } } },
        unused: { type: 'string' },
      },
    }
    const document = replying({
      '/a': plain({ $ref: '#/$defs/Node', ...defs }),
      '/b': plain({ type: 'array', items: { $ref: '#/$defs/Node' }, ...defs }),
      '/self': plain({ type: 'object', title: 'Tree', properties: { kids: { items: { $ref: '#' } } } }),
      '/deep': plain({
        type: 'object',
        properties: { a: { type: 'number' }, b: { $ref: '#/properties/a' } },
      }),
    })
    assert.deepEqual(schemaAt(document, '/a'), { $ref: '#/components/schemas/Node' })
    assert.deepEqual(schemaAt(document, '/b'), {
      type: 'array',
      items: { $ref: '#/components/schemas/Node' },
    })
    assert.deepEqual(named(document), ['GetDeepOutputPart', 'Node', 'Tree'])
    const { Node, Tree } = document.components.schemas ?? {}
    assert.deepEqual(Node, { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } })
    assert.deepEqual(Tree?.['properties'], { kids: { items: { $ref: '#/components/schemas/Tree' } } })
    assert.deepEqual(schemaAt(document, '/deep'), {
      type: 'object',
      properties: { a: { type: 'number' }, b: { $ref: '#/components/schemas/GetDeepOutputPart' } },
    })
  })

  test('references of plain schemas and of libraries lead somewhere, whatever definitions are called', () => {
    const keys = ['Page<User>', '100%', '50% off', 'a/b', 'x~y', 'ü', '%24', 'a b', '__proto']
    const escapes: readonly ((key: string) => string)[] = [
      (key) => key,
      (key) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
      (key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1')),
    ]
    const schemas: Record<string, Schema> = {
      '/plain': {
        $ref: '#/$defs/U',
        $defs: { U: { type: 'object', properties: { a: { type: 'string' } } } },
      },
      '/nested': {
        type: 'object',
        properties: {
          x: { type: 'object', properties: { y: { type: 'integer' } }, required: ['y'] },
          y: { $ref: '#/properties/x/properties/y' },
          z: { $defs: { In: { type: 'boolean' } }, $ref: '#/properties/z/$defs/In' },
        },
      },
      '/nested-again': { type: 'object', properties: { y: { type: 'integer' } }, required: ['y'] },
      '/encoded': plain({
        type: 'object',
        properties: { u: { $ref: '#/%24defs/U' } },
        $defs: { U: { const: 'encoded' } },
      }),
      '/anchor': plain({
        type: 'object',
        properties: { u: { $dynamicRef: '#it' }, v: { $ref: '#none' }, w: { $ref: '#/$defs/no' } },
        $defs: { U: { $dynamicAnchor: 'it', const: 'anchored' }, no: false },
      }),
    }
    for (const [at, key] of keys.entries()) {
      const $defs = { [key]: { type: 'object', properties: { at: { const: `${at}` } } } }
      schemas[`/own/${at}`] = { type: 'array', items: { $ref: `#/$defs/${escapes[2]?.(key)}` }, $defs }
      for (const [how, escape] of escapes.entries())
        schemas[`/lib/${at}/${how}`] = plain({ items: { $ref: `#/$defs/${escape(key)}` }, $defs })
      schemas[`/zod/${at}`] = z.array(z.object({ at: z.literal(`z${at}`) }).meta({ id: key }))
    }
    const document = replying(schemas)
    for (const path of Object.keys(schemas)) {
      const [, , at] = path.split('/')
      const { items } = schemaAt(document, path) as { items?: { $ref: string } }
      if (at === undefined) continue
      const found = document.components.schemas?.[items?.$ref.split('/').at(-1) as string]
      const properties = found?.['properties'] as { at: { const: string } } | undefined
      assert.equal(properties?.at.const, path.startsWith('/zod') ? `z${at}` : at, path)
    }
    assert.deepEqual(dangling(document), [])
    const plainly = document.paths['/plain']?.['get']?.responses['200'] as { content: object }
    assert.deepEqual(Object.keys(plainly.content), ['application/json'])
    const { properties } = schemaAt(document, '/anchor') as { properties: Record<string, object> }
    const { $ref: anchored } = properties['u'] as { $ref: string }
    assert.deepEqual(document.components.schemas?.[anchored.split('/').at(-1) as string], {
      const: 'anchored',
    })
    assert.deepEqual(properties['v'], {})
    assert.deepEqual(properties['w'], { not: {} })
  })

  test('schemas of the same words whose references mean different things are apart', () => {
    const item = { type: 'object', properties: { next: { $ref: '#/$defs/N' } } }
    const self = { type: 'object', properties: { up: { $ref: '#' } } }
    const document = replying({
      '/a': plain({ ...item, $defs: { N: { const: 'a' } } }),
      '/b': plain({ ...item, $defs: { N: { const: 'b' } } }),
      '/in': plain({ type: 'array', items: item, $defs: { N: { const: 'c' } } }),
      '/self': plain(self),
      '/other': plain({ type: 'object', title: 'Other', properties: { self } }),
    })
    const follow = (schema: unknown): Record<string, any> => {
      const { $ref } = schema as { $ref?: string }
      const target = $ref === undefined ? schema : document.components.schemas?.[$ref.split('/').at(-1) ?? '']
      return target as Record<string, any>
    }
    for (const path of ['a', 'b']) {
      const { properties } = follow(schemaAt(document, `/${path}`))
      assert.equal(follow(properties?.next).const, path)
    }
    const { items } = follow(schemaAt(document, '/in'))
    assert.equal(follow(follow(items).properties.next).const, 'c')
    const other = follow(schemaAt(document, '/other'))
    assert.equal(other.title, 'Other')
    assert.equal(follow(follow(other.properties.self).properties.up).title, 'Other')
    assert.deepEqual(dangling(document), [])
  })

  test('a property called $ref, properties or __proto__ is a property', () => {
    const properties = JSON.parse(
      '{"$ref":{"type":"string"},"properties":{"type":"string"},"__proto__":{"const":{"$ref":"#"}}}',
    )
    const document = replying({ '/a': plain({ type: 'object', properties }) })
    assert.equal(JSON.stringify(schemaAt(document, '/a')), JSON.stringify({ type: 'object', properties }))
  })

  test('text is text/plain, everything else is JSON, unless the route says what it is', () => {
    const typesOf = (schema: object): string[] => {
      const reply = replying({ '/a': plain(schema) }).paths['/a']?.['get']?.responses['200']
      return reply !== undefined && 'content' in reply ? Object.keys(reply.content ?? {}) : []
    }
    assert.deepEqual(typesOf({ type: 'string' }), ['text/plain', 'application/json'])
    assert.deepEqual(typesOf({ enum: ['a', 'b'] }), ['text/plain', 'application/json'])
    assert.deepEqual(typesOf({ const: 1 }), ['application/json'])
    assert.deepEqual(typesOf({ anyOf: [{ type: 'string' }, { type: 'object' }] }), [
      'application/json',
      'text/plain',
    ])
    assert.deepEqual(typesOf({ $ref: '#/$defs/T', $defs: { T: { type: 'string' } } }), [
      'text/plain',
      'application/json',
    ])
    assert.deepEqual(typesOf({ $ref: '#/$defs/T', $defs: { T: { $ref: '#/$defs/T' } } }), [
      'application/json',
      'text/plain',
    ])
    assert.deepEqual(typesOf({ properties: {} }), ['application/json'])
  })
})

/** References that lead nowhere in the document. */
function dangling(document: OpenAPIDocument): string[] {
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":("[^"]*")/g)].map(
    ([, ref]) => JSON.parse(ref as string) as string,
  )
  return refs.filter((ref) => {
    const keys = ref.replace(/^#\//, '').split('/').map(decodeURIComponent)
    const target = keys.reduce<any>(
      (at, key) => at?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    )
    return target === undefined
  })
}

function idsOf({ paths }: OpenAPIDocument): Record<string, string> {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [
        `${method.toUpperCase()} ${path}`,
        operationId,
      ]),
    ),
  )
}

/** An app that uses whatever a document can tell. */
function everything(): App {
  const app = createApp({ signals: false })
  const User = z.object({
    id: z.uuid(),
    name: z.string().min(1),
    role: z.enum(['user', 'admin']).default('user'),
  })
  const NewUser = User.omit({ id: true }).meta({ title: 'New user' })
  const Comment = z.object({
    text: z.string(),
    get replies() {
      return z.array(Comment)
    },
  })
  const Money = z.object({ amount: z.number(), currency: z.string().length(3) }).meta({ id: 'Money' })
  const auth = middleware(
    {
      errors: { UNAUTHORIZED: { status: 401, description: 'No token, or none that is known' } },
      security: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    (_, next) => next(),
  )
  app.get(
    '/users',
    {
      summary: 'All users',
      tags: ['users'],
      query: z.object({
        limit: z.coerce.number().int().max(100).default(20).describe('How many'),
        tag: z.array(z.string()).optional(),
      }),
      response: z.array(User),
    },
    () => [],
  )
  app.post(
    '/users',
    {
      operationId: 'createUser',
      description: 'Makes a user.',
      tags: ['users'],
      body: NewUser,
      response: { 201: User, 202: null },
      errors: {
        NAME_TAKEN: { status: 409, description: 'Somebody has it', data: z.object({ name: z.string() }) },
        CLOSED: { status: 409 },
      },
      examples: {
        body: { ann: { summary: 'A usual one', value: { name: 'Ann' } } },
        response: {
          201: { ann: { value: { id: '8f1b6c9e-52a5-4c8e-8a39-0d6f3a8f9a11', name: 'Ann', role: 'user' } } },
        },
      },
    },
    auth,
    (ctx) => ctx.reply(202),
  )
  app.get(
    '/users/:id',
    {
      params: z.object({ id: z.uuid() }),
      headers: z.object({ 'x-version': z.string().optional(), accept: z.string().optional() }),
      cookies: z.object({ theme: z.enum(['dark', 'light']).optional() }),
      response: { 200: User, 404: z.object({ gone: z.boolean() }) },
      errors: { USER_NOT_FOUND: { status: 404 } },
      deprecated: true,
    },
    auth,
    (ctx) => ctx.reply(404, { gone: true }),
  )
  app.get('/comments', { response: z.array(Comment) }, () => [])
  app.put(
    '/price',
    { body: z.object({ price: Money, name: z.string().optional() }).optional(), response: Money },
    () => ({
      amount: 1,
      currency: 'EUR',
    }),
  )
  app.get('/when', { response: z.object({ at: z.date() }) }, () => ({ at: new Date() }))
  app.get('/search', { query: z.record(z.string(), z.string()) }, () => 'ok')
  app.post('/note', { body: z.string() }, () => 'ok')
  app.post('/upload', { bodyMode: 'stream', response: { 204: null } }, () => undefined)
  app.get('/calendar/:year/:month?', () => 'ok')
  app.get('/badge/:value.svg', { response: z.string(), mediaType: 'image/svg+xml' }, () => '')
  app.get('/files/*path', () => 'ok')
  app.get('/style', { mediaType: 'text/css' }, () => '')
  const blog = createApp({ signals: false })
  blog.get('/posts/:slug', { params: z.object({ slug: z.string() }), tags: ['blog'] }, () => 'ok')
  app.mount('/blog', blog)
  return app
}
