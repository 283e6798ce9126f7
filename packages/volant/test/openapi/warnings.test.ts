/** What is told of schemas that a document cannot say. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type } from 'arktype'
import { openapi, type OpenAPIDocument, type OpenAPIResponse, type Schema, validate } from 'volant'
import * as v from 'valibot'
import * as z from 'zod'
import { eventually, Kit, stderrLines } from '../kit.ts'

const info = { title: 'Test', version: '1.0.0' }

const kit = new Kit()

describe('openapi', () => {
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
})

/** What is said of JSON Schema on stderr while `run` runs. */
async function told(run: (lines: () => string[]) => Promise<void>): Promise<void> {
  await stderrLines((lines) => run(() => lines.filter((line) => line.includes('JSON Schema'))))
}
