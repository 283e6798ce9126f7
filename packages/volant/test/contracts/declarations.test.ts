/** What cannot be a declaration is refused when the route is made. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { validate, VolantError } from 'volant'
import { procedure } from 'volant/procedures'
import * as z from 'zod'
import { kit, reported, User } from './kit.ts'

describe('declared replies', () => {
  test('what cannot be a declaration is refused when the route is made', () => {
    const app = kit.app()
    const bad: [unknown, string, RegExp][] = [
      [{ response: { 99: User } }, 'E_BAD_STATUS', /200 to 599, not 99/],
      [{ response: { 200: User, '4XX': User } }, 'E_BAD_STATUS', /200 to 599, not 4XX/],
      [{ response: { 200: User, default: User } }, 'E_BAD_STATUS', /200 to 599, not default/],
      [{ response: { id: z.number() } }, 'E_BAD_SCHEMA', /an object with id: write z\.object\(\{ id: … \}\)/],
      [{ response: { 600: User } }, 'E_BAD_STATUS', /200 to 599, not 600/],
      [{ response: { 204: User } }, 'E_BAD_OPTION', /status 204 has no content: write 204: null/],
      [{ response: 5 }, 'E_BAD_SCHEMA', /the route \/x: response/],
      [{ errors: { A: { status: 200 } } }, 'E_BAD_STATUS', /the declared error A takes a status from 400/],
      [{ errors: { 'no code': { status: 400 } } }, 'E_BAD_OPTION', /"no code"/],
      [{ errors: { A: 404 } }, 'E_BAD_OPTION', /the error A takes \{ status \}/],
      [{ errors: { A: { status: 404, message: 'x' } } }, 'E_BAD_OPTION', /did you mean "description"/],
      [
        { errors: { E_VALIDATION: { status: 409 } } },
        'E_BAD_OPTION',
        /E_VALIDATION is an error of the framework/,
      ],
      [
        { errors: { E_RATE_LIMITED: { status: 503 } } },
        'E_BAD_OPTION',
        /E_RATE_LIMITED is an error of the framework/,
      ],
      [
        { errors: { E_UNAUTHORIZED: { status: 403 } } },
        'E_BAD_OPTION',
        /E_UNAUTHORIZED is an error of the framework/,
      ],
      [{ errors: { A: { status: 404, data: 1 } } }, 'E_BAD_SCHEMA', /errors\.A\.data/],
      [{ tags: 'x' }, 'E_BAD_OPTION', /tags takes an array of strings/],
      [{ summary: 1 }, 'E_BAD_OPTION', /summary takes a text/],
      [{ deprecated: 'yes' }, 'E_BAD_OPTION', /deprecated takes true or false/],
      [{ security: {} }, 'E_BAD_OPTION', /security takes/],
      [{ responses: {} }, 'E_BAD_OPTION', /did you mean "response"/],
    ]
    for (const [options, code, message] of bad) {
      assert.throws(() => app.get('/x', options as never, () => 1), { code, message })
    }
    assert.throws(() => kit.app({ undeclaredProperties: 'keep' as never }), { code: 'E_BAD_OPTION' })
  })

  test('the shapes of other frameworks are refused wherever a schema is taken', () => {
    const app = kit.app()
    const plain = { type: 'object', properties: { id: { type: 'integer' } } }
    const everything = /, which every value passes\. Where that is meant, z\.unknown\(\), .* says so$/
    const shapes: [shape: object, message: RegExp][] = [
      // OpenAPI, and the routes of Hono.
      [
        { description: 'A user', content: { 'application/json': { schema: plain } } },
        /with description, content: write the schema in its content\["application\/json"\], alone$/,
      ],
      [{ content: { 'text/csv': { schema: User } }, description: 'A user' }, /content\["text\/csv"\]/],
      [
        { required: true, content: { 'application/json': { schema: User } } },
        /content\["application\/json"\]|#\/required/,
      ],
      [{ $ref: '#/components/responses/User' }, /#\/\$ref leads nowhere/],
      [{ headers: {}, description: 'A user' }, /an object with headers, description$/],
      [{ schema: User }, /an object with schema: write the schema in it, alone$/],
      [{ schema: plain, description: 'A user' }, /with schema, description: write the schema in it, alone$/],
      // Fastify: a shorthand, and what tells of the reply.
      [{ id: { type: 'integer' } }, /write \{ type: 'object', properties: \{ id: … \} \}$/],
      [{ description: 'A user' }, everything],
      // tRPC and oRPC: parsers, and a schema among others.
      [{ parse: (value: unknown) => value }, /an object with parse$/],
      [{ data: User, message: 'No user' }, /an object with data, message: write z\.object\(\{ data: … \}\)$/],
      // JSON Schema that refuses nothing.
      [{}, everything],
      [{ default: { id: 1 }, title: 'User' }, everything],
      [{ type: undefined, description: 'A user' }, everything],
      [{ $defs: { User: plain } }, everything],
      // Properties beside `properties`, and a schema of an older draft or of JSON Type Definition.
      [{ type: 'object', id: { type: 'integer' } }, /#\/id holds a schema and is no keyword of JSON Schema/],
      [{ type: 'object', user: User }, /#\/user holds a schema/],
      [{ type: 'array', elements: plain }, /#\/elements holds a schema/],
      [{ type: 'array', items: { type: 'object', id: plain } }, /#\/items\/id holds a schema/],
    ]
    const slots: [name: RegExp, register: (shape: never) => unknown][] = [
      [/response /, (response) => app.get('/x', { response }, () => 1 as never)],
      [/response 201 /, (shape) => app.get('/x', { response: { 201: shape } }, () => 1 as never)],
      [/body /, (body) => app.post('/x', { body }, () => 1)],
      [/query /, (query) => app.get('/x', { query }, () => 1)],
      [/params /, (params) => app.get('/x/:id', { params }, () => 1)],
      [/headers /, (headers) => app.get('/x', { headers }, () => 1)],
      [/cookies /, (cookies) => app.get('/x', { cookies }, () => 1)],
      [/errors\.GONE\.data /, (data) => app.get('/x', { errors: { GONE: { status: 410, data } } }, () => 1)],
      [/input /, (input) => procedure().input(input)],
      [/output /, (output) => procedure().output(output)],
      [/body /, (body) => validate({ body })],
    ]
    for (const [shape, message] of shapes) {
      for (const [where, register] of slots) {
        const code = 'E_BAD_SCHEMA'
        assert.throws(() => register(shape as never), { code, message }, String(message))
        assert.throws(() => register(shape as never), {
          code,
          message: new RegExp(`${where.source.trim()}[ :]`),
        })
      }
    }
    for (const statuses of [
      { '2xx': User },
      { default: User },
      { 200: User, '5xx': plain },
      { '2XX': plain },
    ])
      assert.throws(() => app.get('/x', { response: statuses as never }, () => 1 as never), {
        code: 'E_BAD_STATUS',
        message: /response takes statuses from 200 to 599, not (?:2xx|default|5xx|2XX)$/,
      })
  })

  test('a codec in what is sent is refused with its place, and taken in what comes in', async () => {
    const app = kit.app()
    const at = z.codec(z.iso.datetime(), z.date(), {
      decode: (text) => new Date(text),
      encode: (date) => date.toISOString(),
    })
    interface Node {
      next?: Node | undefined
    }
    const node: z.ZodType<Node> = z.object({
      get next() {
        return node.optional()
      },
    })
    const schemas: [schema: z.ZodType, place: string][] = [
      [at, '#'],
      [z.object({ id: z.number(), at }), '#/at'],
      [z.object({ rows: z.array(z.object({ at: at.nullable().optional() })) }), '#/rows/*/at'],
      [z.union([z.string(), z.object({ at })]), '#/at'],
      [z.object({ a: z.number() }).and(z.object({ at })), '#/at'],
      [z.record(z.string(), at), '#/*'],
      [z.tuple([z.string(), at]), '#/1'],
      [z.object({ on: z.stringbool() }), '#/on'],
      [at.pipe(z.date()), '#'],
    ]
    const slots: ((schema: z.ZodType) => unknown)[] = [
      (response) => app.get('/x', { response }, () => 1),
      (schema) => app.get('/x', { response: { 201: schema } }, () => 1 as never),
      (data) => app.get('/x', { errors: { GONE: { status: 410, data } } }, () => 1),
      (output) => procedure().output(output),
    ]
    for (const [schema, place] of schemas) {
      for (const register of slots) {
        const message = ` has a codec at ${place}, and a reply is not encoded by it: `
        assert.throws(
          () => register(schema),
          (error: VolantError) => error.code === 'E_BAD_SCHEMA' && error.message.includes(message),
          place,
        )
      }
    }
    // A start in production does not look for them, and the first reply does.
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      app.get('/late', { response: z.object({ at }) }, () => ({ at: 'SECRET' }))
    } finally {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
    }
    app.get('/recursive', { response: node }, () => ({ next: {} }))
    app.post('/event', { body: z.object({ at }), response: z.object({ at: z.date() }) }, (ctx) => ctx.body)
    await kit.serve(app, async (live) => {
      const event = '{"at":"2026-01-02T03:04:05.000Z"}'
      assert.equal((await live.post('/event', 'application/json', event)).text, event)
      assert.equal((await live.ask('/recursive')).text, '{"next":{}}')
      assert.equal((await live.ask('/late')).status, 500)
      reported('E_BAD_SCHEMA', /^the reply of GET \/late with status 200 has a codec at #\/at, /)
    })
  })
})
