import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Context, cors, createApp, health, logger, metrics, validate, type VolantError } from 'volant'
import { z } from 'zod'
import type { Kit } from '../kit.ts'

/** What is told to who made a mistake: what is wrong with what, and what would do. */
export function messages(kit: Kit): void {
  describe('messages', () => {
    const options: [RegExp, () => unknown][] = [
      [
        /^createApp has no option "limit"; did you mean "limits"\? It has: adapter, limits, router, /,
        () => createApp({ limit: {} } as never),
      ],
      [/^createApp has no option "bodyLimit": write limits: /, () => createApp({ bodyLimit: 1 } as never)],
      [/"maxBodySize": it is one of the limits/, () => createApp({ maxBodySize: 1 } as never)],
      [
        /^createApp has no option "logger": use app.use\(logger\(\)\)\. It/,
        () => createApp({ logger: true } as never),
      ],
      [/^createApp has no option "colour"\. It has: /, () => createApp({ colour: 1 } as never)],
      [
        /^createApp has no option "__proto__"\. It has: /,
        () => createApp(JSON.parse('{"__proto__":1}') as never),
      ],
      [/^write adapter: { type: "node-http" }$/, () => createApp({ adapter: 'node-http' } as never)],
      [
        /^adapter has no option "typ"; did/,
        () => createApp({ adapter: { type: 'native', typ: 1 } as never }),
      ],
      [
        /^router has no option "casesensitive"; did you mean "caseSensitive"\?/,
        () => createApp({ router: { casesensitive: true } as never }),
      ],
      [
        /^limits has no option "bodyLimit"; did you mean "maxBodySize"\?/,
        () => createApp({ limits: { bodyLimit: 1 } as never }),
      ],
      [
        /^trustProxy has no option "form"; did you mean "from"\?/,
        () => createApp({ trustProxy: { form: 1 } as never }),
      ],
      [
        /^the route \/x has no option "schema": schemas are options themselves: params, query/,
        () => kit.app().get('/x', { schema: {} } as never, () => 1),
      ],
      [
        /^the route \/x has no option "bodyLimit"; did you mean "maxBodySize"\?/,
        () => kit.app().get('/x', { bodyLimit: 1 } as never, () => 1),
      ],
      [/^validate takes { body: schema }, not a schema itself$/, () => validate(z.object({}) as never)],
      [
        /^cors has no option "allowHeaders"; did you mean "allowedHeaders"\?/,
        () => cors({ allowHeaders: [] } as never),
      ],
      [/^logger has no option "stream"; did you mean "destination"\?/, () => logger({ stream: 1 } as never)],
      [/^metrics has no option "bucket"; did/, () => metrics({ bucket: [] } as never)],
      [/^health has no option "check"; did/, () => kit.app().register(health, { check: {} } as never)],
    ]
    for (const [message, run] of options) {
      test(`options: ${message.source}`, () => assert.throws(run, { code: 'E_BAD_OPTION', message }))
    }

    const listening: [RegExp, unknown][] = [
      [/^listen has no option "prot"; did you mean "port"\? It has: port, host, path,/, { prot: 1 }],
      [/^listen has no option "hostname"; did you mean "host"\?/, { hostname: 'localhost' }],
      [/^port takes an integer from 0 to 65535, not NaN \(is PORT set\?\)$/, Number.NaN],
      [/^port takes .*Number\(…\), not "3000"$/, '3000'],
    ]
    for (const [message, target] of listening) {
      test(`listen: ${message.source}`, () =>
        assert.rejects(kit.app().listen(target as never), { code: 'E_BAD_OPTION', message }))
    }

    test('inject takes a path, or a whole URL', async () => {
      const app = kit.app()
      app.get('/users', () => 'all')
      const message = /^inject: url takes a path that starts with '\/'.*, not "users"$/
      await assert.rejects(app.inject('users'), { code: 'E_BAD_OPTION', message })
      assert.equal((await app.inject('http://localhost/users')).text(), 'all')
    })

    const circle: Record<string, unknown> = { list: [1] }
    circle['self'] = { 'a b': [{ circle }] }
    let deep: unknown[] = []
    for (let level = 0; level < 50_000; level++) deep = [deep]
    const values: [RegExp, unknown][] = [
      [/^the reply of GET \/v\/:id cannot be written as JSON: a BigInt at a\.b\[0\];/, { a: { b: [1n] } }],
      [/JSON: a BigInt;/, 1n],
      [/JSON: a BigInt at toJSON\.x;/, { toJSON: { x: 1n } }],
      [/JSON: a BigInt at date;/, { date: { toJSON: () => 1n } }],
      [/JSON: a cycle at self\["a b"\]\[0\]\.circle$/, circle],
      // From Node.js 25 on JSON.stringify does not recurse, and carries it.
      ...(carries(deep) ? [] : ([[/JSON: it is nested too deeply$/, deep]] as [RegExp, unknown][])),
      [/JSON: it is a Map; Object\.fromEntries\(map\)/, new Map([['a', 1]])],
      [/JSON: it is a Set; Array\.from\(set\)/, new Set([1])],
      [/JSON: it is a function$/, () => 1],
      [/JSON: it is a symbol$/, Symbol('x')],
    ]
    test('what JSON cannot carry is named, and where it is', async () => {
      const app = kit.app()
      app.get('/v/:id', (ctx) => values[Number(ctx.params.id)]?.[1])
      app.get('/empty', () => ({}))
      app.get('/own', () => ({
        toJSON() {
          throw new Error('its own')
        },
      }))
      app.get('/shared', () => {
        const one = { x: 1 }
        return { a: one, b: [one, one] }
      })
      await kit.serve(app, async (live) => {
        for (const [index, [message]] of values.entries()) {
          assert.equal((await live.ask(`/v/${index}`)).status, 500)
          const error = kit.reports.pop() as VolantError
          assert.equal(error.code, 'E_NOT_SERIALISABLE')
          assert.match(error.message, message)
        }
        assert.equal((await live.ask('/empty')).text, '{}')
        assert.equal((await live.ask('/own')).status, 500)
        assert.equal((kit.reports.pop() as Error).message, 'its own')
        assert.equal((await live.ask('/shared')).text, '{"a":{"x":1},"b":[{"x":1},{"x":1}]}')
      })
    })

    test('a Blob is streamed with its type', async () => {
      const app = kit.app()
      app.get('/typed', () => new Blob(['<b>', 'hello</b>'], { type: 'text/html' }))
      app.get('/plain', () => new Blob(['x'.repeat(100_000)]))
      app.get('/own', (ctx) => {
        ctx.header('content-type', 'text/x-own').status(201)
        return new Blob(['own'], { type: 'text/html' })
      })
      await kit.serve(app, async (live) => {
        const typed = await live.ask('/typed')
        assert.equal(typed.text, '<b>hello</b>')
        assert.equal(typed.headers['content-type'], 'text/html')
        assert.equal(typed.headers['content-length'], '12')
        const plain = await live.ask('/plain')
        assert.equal(plain.text.length, 100_000)
        assert.equal(plain.headers['content-type'], 'application/octet-stream')
        const own = await live.ask('/own')
        assert.deepEqual([own.status, own.headers['content-type'], own.text], [201, 'text/x-own', 'own'])
        assert.equal((await live.ask('/typed', { method: 'HEAD' })).headers['content-length'], '12')
      })
    })

    const seconds: [RegExp, (ctx: Context) => unknown][] = [
      [
        /^a handler or middleware of GET \/:n returned an object after the request had its reply: either/,
        () => ({}),
      ],
      [/^a handler or middleware of GET \/:n returned "text" after/, () => 'text'],
      [/^ctx\.json was called after GET \/:n had its reply/, (ctx) => ctx.json(1)],
      [/^ctx\.text was called/, (ctx) => ctx.text('')],
      [/^ctx\.html was called/, (ctx) => ctx.html('')],
      [/^ctx\.bytes was called/, (ctx) => ctx.bytes(new Uint8Array(1))],
      [/^ctx\.reply was called/, (ctx) => ctx.reply(200)],
      [/^ctx\.reply was called/, (ctx) => ctx.reply(200, 'x')],
      [/^ctx\.redirect was called/, (ctx) => ctx.redirect('/')],
      [/^ctx\.stream was called/, (ctx) => ctx.stream(['x'])],
      [/^ctx\.file was called/, (ctx) => ctx.file('package.json')],
    ]
    test('a second reply is named', async () => {
      const app = kit.app()
      app.get('/:n', (ctx) => {
        ctx.text('first')
        return seconds[Number(ctx.params.n)]?.[1](ctx as unknown as Context)
      })
      await kit.serve(app, async (live) => {
        for (const [index, [message]] of seconds.entries()) {
          assert.equal((await live.ask(`/${index}`)).text, 'first')
          const error = kit.reports.pop() as VolantError
          assert.equal(error.code, 'E_ALREADY_REPLIED')
          assert.match(error.message, message)
        }
      })
    })

    const mistakes: [string, RegExp, (ctx: Context) => unknown][] = [
      [
        'E_BAD_HEADER',
        /^the value of header x is undefined: it takes a string or a number$/,
        (ctx) => ctx.header('x', undefined as never),
      ],
      [
        'E_BAD_HEADER',
        /^the value of header x has the character "\\n" \(U\+000A\), which cannot be sent: .*encodeURIComponent/,
        (ctx) => ctx.header('x', 'a\nb'),
      ],
      ['E_BAD_HEADER', /the character "😀" \(U\+1F600\)/, (ctx) => ctx.append('x', 'a😀')],
      ['E_BAD_STATUS', /, not "201"$/, (ctx) => ctx.status('201' as never)],
      [
        'E_BAD_COOKIE',
        /^the cookie "a" has no option "maxage"; did you mean "maxAge"\?/,
        (ctx) => ctx.cookie('a', 'b', { maxage: 1 } as never),
      ],
    ]
    test('what cannot be sent is named', async () => {
      const app = kit.app()
      app.get('/:n', (ctx) => void mistakes[Number(ctx.params.n)]?.[2](ctx as unknown as Context))
      await kit.serve(app, async (live) => {
        for (const [index, [code, message]] of mistakes.entries()) {
          assert.equal((await live.ask(`/${index}`)).status, 500)
          const error = kit.reports.pop() as VolantError
          assert.equal(error.code, code)
          assert.match(error.message, message)
          assert.equal(Object.hasOwn(error, 'cause'), false)
        }
      })
    })

    test('a route that all() or on() registers a second time says so', () => {
      const app = kit.app()
      app.get('/x', () => 1)
      assert.throws(() => app.all('/x', () => 1), /comes from all\(\), which registers GET, too/)
      assert.throws(() => app.on(['POST', 'GET'], '/x', () => 1), /comes from on\(\)/)
      assert.throws(() => app.on(['GET'], '/x', () => 1), /same paths\. Remove/)
    })

    test('a body that was not JSON says how it was read', async () => {
      const app = kit.app()
      app.post('/x', { body: z.object({ age: z.number() }) }, () => 1)
      app.post('/first', { body: z.object({ age: z.number() }), beforeBody: () => undefined }, () => 1)
      await kit.serve(app, async (live) => {
        const detail = async (path: string, type: string | null, body: string) =>
          ((await live.post(path, type, body)).json() as { detail: string }).detail
        const form = 'application/x-www-form-urlencoded'
        for (const path of ['/x', '/first']) {
          assert.equal(
            await detail(path, form, 'age=1'),
            `The request is not valid; the body was read as ${form}`,
          )
          assert.match(
            await detail(path, 'Text/Plain; charset=utf-8', '1'),
            /; the body was read as text\/plain$/,
          )
          assert.match(
            await detail(path, null, '{}'),
            /; the body has no Content-Type and was read as bytes$/,
          )
          assert.match(await detail(path, null, ''), /; the request has no body$/)
          assert.equal(await detail(path, 'application/json', '{}'), 'The request is not valid')
        }
      })
    })

    test('413 and 422 have the names of RFC 9110 everywhere', async () => {
      const app = kit.app({ limits: { maxBodySize: 10 } })
      app.post('/x', (ctx) => ctx.body)
      app.get('/413', (ctx) => ctx.reply(413))
      app.get('/422', (ctx) => ctx.reply(422))
      await kit.serve(app, async (live) => {
        const refused = await live.post('/x', 'text/plain', 'x'.repeat(20))
        assert.equal((refused.json() as { title: string }).title, 'Content Too Large')
        assert.equal((await live.ask('/413')).reason, 'Content Too Large')
        assert.equal((await live.ask('/422')).reason, 'Unprocessable Content')
      })
      const injected = await app.inject({ method: 'POST', url: '/x', body: 'x'.repeat(20) })
      assert.equal(injected.statusText, 'Content Too Large')
      assert.equal(injected.json<{ title: string }>().title, 'Content Too Large')
    })
  })
}

function carries(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
