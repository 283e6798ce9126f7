/** The OpenAPI document of an app: its paths, tags and routes. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import {
  type App,
  createApp,
  type OpenAPIDocument,
  type OpenAPITag,
  openapiOf,
  validate,
  type VolantError,
} from 'volant'
import * as z from 'zod'
import { everything, idsOf } from './everything.ts'

const info = { title: 'Test', version: '1.0.0' }

describe('openapiOf', () => {
  test('one document of everything is as it was', async () => {
    const fixture = new URL('../../../test/fixtures/openapi.json', import.meta.url)
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

  test('tags stand in the order they are given, with all that is said of them; others come after, by name', () => {
    const app = createApp({ signals: false })
    for (const tag of ['health', 'zoo', 'animals', 'users']) app.get(`/${tag}`, { tags: [tag] }, () => 'ok')
    const tags: OpenAPITag[] = [
      { name: 'users', 'x-displayName': 'Users', description: 'Who may sign in' },
      { name: 'health', 'x-displayName': 'Monitoring' },
    ]
    assert.deepEqual(openapiOf(app, { info, tags }).tags, [...tags, { name: 'animals' }, { name: 'zoo' }])
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
