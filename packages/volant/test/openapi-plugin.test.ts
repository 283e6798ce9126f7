/** The API's document over HTTP, and its page. Long by the app that uses all there is to document. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type } from 'arktype'
import {
  createApp,
  middleware,
  openapi,
  type OpenAPIDocument,
  type OpenAPIResponse,
  type Schema,
  securityHeaders,
  type VolantError,
  validate,
} from 'volant'
import { Type } from 'typebox'
import * as v from 'valibot'
import { parse } from 'yaml'
import * as z from 'zod'
import { eventually, Kit, stderrLines } from './kit.ts'

const info = { title: 'Test', version: '1.0.0' }

/** A checkout from before there was a page has no link to its package. */
const paged = { skip: pageIsInstalled() ? false : '@volant/reference-page is not installed: npm install' }

function pageIsInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('@volant/reference-page/package.json')
    return true
  } catch {
    return false
  }
}

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

  test('a schema without JSON Schema checks requests, and is named once with its route', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const own = (accepts: (value: unknown) => boolean): Schema => ({
      '~standard': {
        version: 1,
        vendor: 'own',
        validate: (value) => (accepts(value) ? { value } : { issues: [{ message: 'no' }] }),
      },
    })
    const When = own((value) => value !== null)
    const Name = own((value) => (value as { name: unknown }).name === 'a')
    app.post('/when', { body: Name, response: When }, () => ({ at: new Date(0) }))
    app.get('/again', { response: When }, () => ({ at: new Date(0) }))
    await told(async (lines) => {
      await kit.serve(app, async (live) => {
        // It is told when the app listens.
        await app.listen(0, '127.0.0.1')
        await eventually(() => lines().length >= 2, 'two lines on stderr')
        const document = (await live.ask('/openapi.json')).json() as OpenAPIDocument
        assert.deepEqual(await new Validator().validate(JSON.parse(JSON.stringify(document))), {
          valid: true,
        })
        assert.deepEqual(Object.keys(document.paths['/when']?.['post']?.requestBody?.content ?? {}), [
          'application/json',
        ])
        assert.equal((await live.post('/when', 'application/json', '{"name":1}')).status, 400)
        assert.equal((await live.post('/when', 'application/json', '{"name":"a"}')).status, 200)
      })
      const [body, response, ...more] = lines()
      assert.match(body as string, /^volant: POST \/when: body has no JSON Schema, and [^\n]+$/)
      assert.match(response as string, /^volant: POST \/when: response 200 has no JSON Schema, and [^\n]+$/)
      assert.deepEqual(more, [])
    })
  })

  test('what a schema does with no body at all harms nobody', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const validators: ((value: any) => unknown)[] = [
      async (value) => (value.name ? { value } : { issues: [{ message: 'no name' }] }),
      () => Promise.reject(new Error('no')),
      // oxlint-disable-next-line unicorn/no-thenable
      () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error('no')) }),
      () => null,
    ]
    for (const [at, validate] of validators.entries()) {
      const body = { '~standard': { version: 1, vendor: 'own', validate } } as unknown as Schema
      app.post(`/${at}`, { body }, () => 'ok')
    }
    const failed: unknown[] = []
    const fail = (error: unknown): void => void failed.push(error)
    process.on('unhandledRejection', fail)
    try {
      await told(async () => {
        const { paths } = JSON.parse((await app.inject('/openapi.json')).body.toString()) as OpenAPIDocument
        for (const at of validators.keys())
          assert.equal(paths[`/${at}`]?.['post']?.requestBody?.required, true, String(at))
        // Unhandled rejections are told of once the microtasks are done.
        await new Promise((resolve) => setImmediate(resolve))
      })
    } finally {
      process.off('unhandledRejection', fail)
    }
    assert.deepEqual(failed, [])
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

  test('nothing is converted before somebody asks, and what include refuses is never told of', async () => {
    const app = kit.app()
    app.register(openapi, { info, include: ({ path }) => path !== '/out' })
    let converted = 0
    const of = (more: object): Schema =>
      ({
        '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }), ...more },
      }) as Schema
    const lazy = of({
      jsonSchema: { input: () => ++converted && {}, output: () => ++converted && { type: 'object' } },
    })
    app.post('/lazy', { body: lazy, response: lazy }, () => ({}))
    app.get('/out', { query: of({}) }, () => 'ok')
    app.get('/in', { query: of({}) }, () => 'ok')
    await told(async (lines) => {
      await kit.serve(app, async (live) => {
        // It is told when the app listens.
        await app.listen(0, '127.0.0.1')
        await eventually(() => lines().length > 0, 'a line on stderr')
        assert.equal(converted, 0)
        assert.equal((await live.ask('/openapi.json')).status, 200)
        assert.equal(converted, 2)
      })
      assert.deepEqual(
        lines().map((line) => line.slice(0, 23)),
        ['volant: GET /in: query '],
      )
    })
  })

  test('what the document cannot say is told of once, by name', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    app.get('/u/:id', { headers: z.object({ 'X-Id': z.string() }) }, () => 'ok')
    app.get('/u/*', () => 'ok')
    const said = await stderrLines(async () => {
      for (const path of ['/openapi.json', '/openapi.json', '/openapi.yaml'])
        assert.equal((await app.inject(path)).status, 200)
    })
    assert.deepEqual(said, [
      "volant: the API's document leaves out GET /u/*: OpenAPI cannot tell its path from that of GET /u/:id",
      'volant: GET /u/:id: its schema for headers has "X-Id", which never arrives, since names of headers are in lower case: write "x-id"',
    ])
  })

  test('parts of a schema that have no JSON Schema, and those no JSON fits, are named once with their places', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const Line = z.object({ a: z.string().transform((text) => text.length), b: z.custom<string>() })
    app.get('/said', { response: z.object({ a: z.string().transform(Number).pipe(z.number()) }) }, () => ({
      a: '1',
    }))
    app.get('/lines', { response: z.array(Line) }, () => [])
    app.get('/lines/:at', { response: z.array(Line) }, () => [])
    app.get('/same', { response: Line }, () => ({ a: 'a', b: 'b' }))
    app.get('/again', { response: Line }, () => ({ a: 'a', b: 'b' }))
    app.post(
      '/event',
      {
        body: z.object({ at: z.date(), or: z.date().or(z.string()), caught: z.date().catch(new Date(0)) }),
      },
      () => 'ok',
    )
    app.put('/event', { body: v.object({ n: v.bigint() }) }, () => 'ok')
    app.get('/count', { response: z.object({ n: z.bigint() }) }, () => ({ n: 1n }) as never)
    const made = v.object({ n: v.pipe(v.string(), v.transform(Number)) })
    app.get('/made', { response: made }, () => ({ n: '1' }))
    app.post('/moment', { body: type('Date') }, () => 'ok')
    app.get('/fine', { query: z.object({ at: z.coerce.date() }), response: z.unknown() }, () => 'ok')
    const said = await stderrLines(async () => {
      for (const path of ['/openapi.json', '/openapi.json', '/openapi.yaml'])
        assert.equal((await app.inject(path)).status, 200)
    })
    const send = 'no client can get one. Send text: .transform(String).pipe(z.string())'
    const take =
      'Use z.iso.datetime() for text, z.coerce.date() for a Date, z.string().transform(BigInt) for a bigint'
    const say = 'Add .pipe(z.string()) or the like after a transform, .meta({ type }) elsewhere'
    const carry = 'JSON cannot carry the value at'
    const refused = 'every request that has one is refused'
    const unsaid = "the API's document has no type for"
    assert.deepEqual(said, [
      `volant: GET /again: response 200: ${unsaid} #/a (transform), #/b (custom). ${say}`,
      `volant: GET /count: response 200: ${carry} #/n (bigint): ${send}`,
      `volant: POST /event: body: ${carry} #/at (date): ${refused}. ${take}`,
      `volant: PUT /event: body: ${carry} #/n (bigint): ${refused}. Use v.pipe(v.string(), v.isoTimestamp()) for text, v.pipe(v.string(), v.toDate()) for a Date, v.pipe(v.string(), v.toBigint()) for a bigint`,
      `volant: GET /lines: response 200: ${unsaid} #/*/a (transform), #/*/b (custom). ${say}`,
      `volant: GET /lines/:at: response 200: ${unsaid} #/*/a (transform), #/*/b (custom). ${say}`,
      `volant: GET /made: response 200: ${unsaid} #/n (transform). Add v.string() or another schema after v.transform()`,
      `volant: POST /moment: body: ${carry} # (date): ${refused}. Use 'string.date.iso' for text, 'string.date.parse' for a Date`,
    ])
  })

  test('what no text fits is named once, with what to write, when the document is made', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const Converted = z.object({
      a: z.coerce.number<number>().optional(),
      b: z.stringbool().default(false),
      c: z.union([z.number(), z.string()]).optional(),
      d: z.preprocess(Number, z.number()).optional(),
      e: z.number().catch(1),
      f: z.array(z.coerce.number<number>()).optional(),
      g: z.coerce.number<number>().nullable().optional(),
      h: z.unknown(),
      i: z.literal(['1', 1]).optional(),
      j: z.coerce.date().optional(),
    })
    app.get('/fine', { query: Converted }, () => 'ok')
    app.get('/plain/:id', { params: { type: 'object', properties: { id: { type: 'integer' } } } }, () => 'ok')
    const numbers = z.object({ n: z.number() })
    // It sees what the outer one made of the text.
    const outer = validate({ query: z.object({ n: z.coerce.number<number>() }) })
    app.get('/inner', { query: numbers }, outer, () => 'ok')
    app.get(
      '/zod/:id',
      { params: z.object({ id: z.int() }), query: z.object({ on: z.boolean().optional() }) },
      () => 1,
    )
    app.get(
      '/list',
      { query: z.object({ ids: z.array(z.number()), by: z.object({ a: z.string() }).optional() }) },
      () => 1,
    )
    app.get('/valibot', { headers: v.object({ 'x-n': v.optional(v.number()) }) }, () => 1)
    app.get('/arktype', { cookies: type({ 'n?': 'number' }) }, () => 1)
    const said = await stderrLines(async () => {
      for (const path of ['/openapi.json', '/openapi.json'])
        assert.equal((await app.inject(path)).status, 200)
    })
    const refused = 'but it comes as text: every request that has it is refused. Write'
    assert.deepEqual(said.toSorted(), [
      `volant: GET /arktype: cookies: "n" is of type number, ${refused} 'string.numeric.parse'`,
      `volant: GET /list: query: "by" is of type object, ${refused} z.string() with a transform`,
      `volant: GET /list: query: "ids" is of type number, ${refused} z.coerce.number<number>()`,
      `volant: GET /valibot: headers: "x-n" is of type number, ${refused} v.pipe(v.string(), v.toNumber())`,
      `volant: GET /zod/:id: params: "id" is of type integer, ${refused} z.coerce.number<number>().int()`,
      `volant: GET /zod/:id: query: "on" is of type boolean, ${refused} z.stringbool()`,
    ])
  })

  for (const [more, sentence] of [
    [0, undefined],
    [1, 'volant: 1 more schema has the same problem'],
    [2, 'volant: 2 more schemas have the same problem'],
  ] as const) {
    test(`of ${10 + more} such schemas ten are named, and the others counted`, async () => {
      const app = kit.app()
      app.register(openapi, { info })
      for (let at = 0; at < 10 + more; at++)
        app.get(`/${at}`, { response: z.object({ a: z.custom<string>() }) }, () => ({ a: 'a' }))
      const said = await stderrLines(async () => void (await app.inject('/openapi.json')))
      assert.equal(said.filter((line) => line.includes('has no type for #/a (custom)')).length, 10)
      assert.equal(said[10], sentence)
    })
  }

  test('what Valibot makes of a text is not documented, and not sent, as text', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    const response = v.object({
      n: v.pipe(v.string(), v.transform(Number)),
      m: v.pipe(v.string(), v.toNumber()),
    })
    app.get('/n', { response }, () => ({ n: '5', m: '6' }))
    await kit.serve(app, async (live) => {
      assert.deepEqual((await live.ask('/n')).json(), { n: 5, m: 6 })
      await stderrLines(async () => {
        const { paths } = (await live.ask('/openapi.json')).json() as OpenAPIDocument
        const { content = {} } = (paths['/n']?.['get']?.responses['200'] ?? {}) as OpenAPIResponse
        assert.deepEqual(content['application/json']?.schema?.['properties'], {
          n: {},
          m: { type: 'number' },
        })
      })
    })
  })

  test('a security requirement of a scheme that nobody declares stops the start', async () => {
    const asking = (): ReturnType<Kit['app']> => {
      const app = kit.app()
      app.register(openapi, { info })
      app.get('/x', { security: [{ bearer: [] }] }, () => 'ok')
      return app
    }
    await assert.rejects(
      asking().inject('/x'),
      (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('GET /x'),
    )
    const outer = kit.app()
    outer.use(middleware({ security: { bearer: { type: 'http', scheme: 'bearer' } } }, (_, next) => next()))
    outer.mount('/in', asking())
    const { components } = JSON.parse(
      (await outer.inject('/in/openapi.json')).body.toString(),
    ) as OpenAPIDocument
    assert.deepEqual(Object.keys(components.securitySchemes ?? {}), ['bearer'])
  })

  test('two groups with a document each may have a scheme of one name', async () => {
    const app = kit.app()
    for (const scheme of ['basic', 'bearer']) {
      app.group(`/${scheme}`, (group) => {
        group.register(openapi, { info, page: false })
        const guard = middleware({ security: { auth: { type: 'http', scheme } } }, (_, next) => next())
        group.get('/x', guard, () => 'ok')
      })
    }
    const { body } = await app.inject('/bearer/openapi.json')
    const { components } = JSON.parse(body.toString()) as OpenAPIDocument
    assert.deepEqual(components.securitySchemes, { auth: { type: 'http', scheme: 'bearer' } })
  })

  test('two security schemes of one name stop the start', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    for (const scheme of ['basic', 'bearer']) {
      const guard = middleware({ security: { auth: { type: 'http', scheme } } }, (_, next) => next())
      app.get(`/${scheme}`, guard, () => 'ok')
    }
    await assert.rejects(
      app.inject('/basic'),
      (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('GET /bearer'),
    )
  })

  test('the page names its files and the document relatively, wherever it is', paged, async () => {
    const app = kit.app()
    app.register(openapi, { info: { title: 'A <"Test">', version: '1' } })
    app.group('/v2', (group) => {
      group.register(openapi, { info, path: '/api/schema', page: '/api/reference', servers })
    })
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/docs')
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
      assert.match(reply.text, /<title>A &lt;&quot;Test&quot;&gt;<\/title>/)
      for (const [path, text] of [
        ['/docs', reply.text],
        ['/v2/api/reference', (await live.ask('/v2/api/reference')).text],
      ] as const) {
        const addresses = [...text.matchAll(/(?:src|data-document)="([^"]+)"/g)]
        assert.equal(addresses.length, 3)
        for (const [, address] of addresses) {
          const { pathname } = new URL(address as string, `http://localhost${path}`)
          assert.equal((await live.ask(pathname)).status, 200, pathname)
        }
      }
    })
  })

  const servers = [
    { url: 'https://api.example:8443/v1' },
    { url: 'https://api.example:8443/v2' },
    { url: '/v3' },
    {
      url: 'https://api-{env}.example/{version}',
      variables: { env: { default: 'live', enum: ['live', 'test'] }, version: { default: 'https://no' } },
    },
    {
      url: '{scheme}://{host}',
      variables: {
        scheme: { default: 'http' },
        host: { default: 'host:80', enum: ['host:81', "'self'; x"] },
      },
    },
    { url: 'https://{unknown}.example' },
  ]

  test(
    'without servers the page asks where it is, also behind a proxy that adds a prefix',
    paged,
    async () => {
      const app = kit.app()
      app.group('/v2', (group) => {
        group.register(openapi, { info, page: '/api/reference' })
      })
      await kit.serve(app, async (live) => {
        const path = '/v2/api/reference'
        const { text } = await live.ask(path)
        const dataset = Object.fromEntries(
          [...text.matchAll(/ data-(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
        )
        const asked: { servers?: object; url?: string }[] = []
        runInNewContext((await live.ask('/v2/api/reference/start.js')).text, {
          document: { querySelector: () => ({ dataset }) },
          location: { href: `https://example/prefix${path}?x#y`, origin: 'https://example' },
          URL,
          Scalar: { createApiReference: (_: unknown, options: object) => asked.push(options) },
        })
        assert.equal(asked[0]?.url, 'https://example/prefix/v2/openapi.json')
        assert.equal(JSON.stringify(asked[0]?.servers), '[{"url":"https://example/prefix"}]')
      })
    },
  )

  test(
    'the page may load what is its own and ask the servers of the document, and nothing else',
    paged,
    async () => {
      const app = kit.app()
      app.use(securityHeaders())
      app.register(openapi, { info, servers })
      await kit.serve(app, async (live) => {
        const policy = (await live.ask('/docs')).headers['content-security-policy'] as string
        const directives = new Map(policy.split('; ').map((each) => [each.split(' ')[0], each]))
        assert.equal(directives.get('default-src'), "default-src 'none'")
        assert.equal(directives.get('script-src'), "script-src 'self'")
        assert.equal(
          directives.get('connect-src'),
          "connect-src 'self' https://api.example:8443 https://api-live.example https://api-test.example http://host:80 http://host:81",
        )
        assert.equal(directives.get('frame-ancestors'), "frame-ancestors 'none'")
      })
    },
  )

  test('the bundle is compressed for those who take that, and sent once', paged, async () => {
    const app = kit.app()
    app.register(openapi, { info })
    await kit.serve(app, async (live) => {
      const headers = { 'accept-encoding': 'gzip, deflate, br' }
      const wire = await live.ask('/docs/reference.js', { method: 'HEAD', headers })
      assert.equal(wire.headers['content-encoding'], 'gzip')
      assert.equal(wire.headers['content-type'], 'text/javascript; charset=utf-8')
      assert.match(wire.headers['vary'] as string, /accept-encoding/i)
      const etag = wire.headers['etag'] as string
      assert.equal(
        (await live.ask('/docs/reference.js', { headers: { ...headers, 'if-none-match': etag } })).status,
        304,
      )
      const plain = await live.ask('/docs/reference.js')
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.ok(plain.text.length > Number(wire.headers['content-length']))
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

  for (const [options, message] of [
    [{ info, page: '/' }, 'openapi.page'],
    [{ info, page: true }, 'openapi.page'],
    [{}, 'openapi: info'],
    [{ info, path: 'openapi' }, 'openapi.path'],
    [{ info, path: '/' }, 'openapi.path'],
    [{ info, pages: false }, 'openapi has no option "pages"; did you mean "page"?'],
  ] as const) {
    test(`${JSON.stringify(options)} is refused`, () => {
      assert.throws(
        () => kit.app().register(openapi, options as never),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.startsWith(message),
      )
    })
  }

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

/** What is said of JSON Schema on stderr while `run` runs. */
async function told(run: (lines: () => string[]) => Promise<void>): Promise<void> {
  await stderrLines((lines) => run(() => lines.filter((line) => line.includes('JSON Schema'))))
}
