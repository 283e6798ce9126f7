import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  before,
  type Context,
  cors,
  createApp,
  health,
  logger,
  metrics,
  openapi,
  securityHeaders,
  validate,
  type VolantError,
} from 'volant'
import { debug } from 'volant/debug'
import { cspReport } from 'volant/middleware'
import { z } from 'zod'
import { Kit, stderrLines } from './kit.ts'

const kit = new Kit()

describe('messages', () => {
  const options: [RegExp, () => unknown][] = [
    [
      /^createApp has no option "limit"; did you mean "limits"\? It has: adapter, limits, router, /,
      () => createApp({ limit: {} } as never),
    ],
    [/^createApp has no option "bodyLimit": write limits: /, () => createApp({ bodyLimit: 1 } as never)],
    [/"maxBodySize": it is one of the limits/, () => createApp({ maxBodySize: 1 } as never)],
    [/^createApp has no option "logger": write log: /, () => createApp({ logger: true } as never)],
    [/^createApp has no option "colour"\. It has: /, () => createApp({ colour: 1 } as never)],
    [
      /^createApp has no option "__proto__"\. It has: /,
      () => createApp(JSON.parse('{"__proto__":1}') as never),
    ],
    [/^write adapter: { type: "node-http" }$/, () => createApp({ adapter: 'node-http' } as never)],
    [/^adapter has no option "typ"; did/, () => createApp({ adapter: { type: 'native', typ: 1 } as never })],
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
    [
      /^the route \/x: bodyMode takes 'buffer' or 'stream', not "streamed"$/,
      () => kit.app().post('/x', { bodyMode: 'streamed' as never }, () => 1),
    ],
    [
      /^the route \/x: maxBodySize takes an integer from .*, not "1mb"$/,
      () => kit.app().post('/x', { maxBodySize: '1mb' as never }, () => 1),
    ],
    [
      /^the route \/x: maxQueryKeys takes an integer from .*, not -1$/,
      () => kit.app().get('/x', { maxQueryKeys: -1 }, () => 1),
    ],
    [
      /^the route \/x: handlerTimeout takes an integer from .*, not 0\.5$/,
      () => kit.app().get('/x', { handlerTimeout: 0.5 }, () => 1),
    ],
    [
      /^the route \/x: beforeBody takes a function, not an object$/,
      () => kit.app().post('/x', { beforeBody: {} as never }, () => 1),
    ],
    [
      /^the route \/x: errors\.X\.description takes a text, not 1$/,
      () => kit.app().get('/x', { errors: { X: { status: 400, description: 1 as never } } }, () => 1),
    ],
    [/^before takes a declaration before the function, not 5$/, () => before(5 as never, () => {})],
    [
      /^prefix takes a path such as \/api, which has all paths below it, without wildcard and optional parameters, not "\/api\/\*"$/,
      () => kit.app().use('/api/*', () => {}),
    ],
    [
      /^prefix takes a path such as \/api, and is left out where all paths are meant, not "\*"$/,
      () => kit.app().use('*', () => {}),
    ],
    [/^validate takes { body: schema }, not a schema itself$/, () => validate(z.object({}) as never)],
    [
      /^cors has no option "allowHeaders"; did you mean "allowedHeaders"\?/,
      () => cors({ allowHeaders: [] } as never),
    ],
    [
      /^securityHeaders has no option "hsts"; did you mean "strictTransportSecurity"\?/,
      () => securityHeaders({ hsts: {} } as never),
    ],
    [
      /^securityHeaders has no option "hidePoweredBy": no reply has this header\. It has: /,
      () => securityHeaders({ hidePoweredBy: true } as never),
    ],
    [
      /^csp has no option "directives": write the directives themselves\. It has: defaultSrc, /,
      () => securityHeaders({ contentSecurityPolicy: { directives: {} } as never }),
    ],
    [/^logger has no option "stream"; did you mean "destination"\?/, () => logger({ stream: 1 } as never)],
    [/^metrics has no option "bucket"; did/, () => metrics({ bucket: [] } as never)],
    [/^health has no option "check"; did/, () => kit.app().register(health, { check: {} } as never)],
  ]
  for (const [message, run] of options) {
    test(`options: ${message.source}`, () => assert.throws(run, { code: 'E_BAD_OPTION', message }))
  }

  const handlers: [RegExp, () => unknown][] = [
    [
      /^a plugin takes \(scope, options\), not 3 parameters: one that has to wait is async, and has no done\(\)$/,
      () => kit.app().register(((_: unknown, _options: unknown, done: () => void) => done()) as never),
    ],
    [
      /^with\(\) takes one middleware, and the others would not run: write \.with\(a\)\.with\(b\)$/,
      () => kit.app().with(...([() => 1, () => 2] as unknown as [() => number])),
    ],
    [
      /^cspReport is not a middleware by itself: write app\.register\(cspReport\)$/,
      () => kit.app().use(cspReport as never),
    ],
    [/^debug is not a middleware by itself: write app\.register/, () => kit.app().use(debug as never)],
    [
      /^cspReport is a plugin, and was called without a scope: write app\.register\(cspReport\)$/,
      () => cspReport(undefined as never),
    ],
    [/^debug is a plugin, and was called/, () => debug({ prefix: '/ops' } as never)],
    [/^health is a plugin, and was called/, () => health(undefined as never)],
    [
      /^openapi is a plugin, .*: write app\.register\(openapi, { info/,
      () => openapi({} as never, {} as never),
    ],
    [/^before takes a function, not an object$/, () => before({ errors: {} } as never)],
    [/^the handler of \/x is not a function but undefined$/, () => kit.app().get('/x', undefined as never)],
    [
      /^middleware 1 of \/x is not a function but an empty array: give each by itself$/,
      () => kit.app().get('/x', [] as never, () => 1),
    ],
  ]
  for (const [message, run] of handlers) {
    test(`handlers: ${message.source}`, () => assert.throws(run, { code: 'E_BAD_HANDLER', message }))
  }

  test('before is given a function that has no next', () => {
    assert.throws(() => before(((_: Context, next: () => unknown) => next()) as never), {
      code: 'E_BAD_HANDLER',
      message:
        /^before takes a function \(ctx\), .*: for \(ctx, next\) write middleware\(…\), or leave before out$/,
    })
  })

  const listening: [RegExp, unknown][] = [
    [/^listen has no option "prot"; did you mean "port"\? It has: port, host, path,/, { prot: 1 }],
    [/^listen has no option "hostname"; did you mean "host"\?/, { hostname: 'localhost' }],
    [/^port takes an integer from 0 to 65535 \(is PORT set\?\), not NaN$/, Number.NaN],
    [/^port takes .*Number\(…\), not "3000"$/, '3000'],
  ]
  for (const [message, target] of listening) {
    test(`listen: ${message.source}`, () =>
      assert.rejects(kit.app().listen(target as never), { code: 'E_BAD_OPTION', message }))
  }

  const tls = { cert: 'x', key: 'y' }
  const behind: [string, unknown[]][] = [
    ['options behind a port', [0, { tls }]],
    ['options behind a host', [0, '127.0.0.1', { tls }]],
    ['options behind options', [{ port: 0 }, { tls }]],
    ['null for a host', [0, null]],
  ]
  for (const [what, given] of behind) {
    test(`listen refuses ${what}`, () =>
      assert.rejects(kit.app().listen(...(given as [number])), {
        code: 'E_BAD_OPTION',
        message: /^listen takes its options in one object, listen\(\{ port: 8443, tls \}\), and behind/,
      }))
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
    [/JSON: it is a function; call it, also where it makes a middleware$/, () => 1],
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

  test('what JSON makes {} of inside of a reply is named, once for a route', async () => {
    const app = kit.app()
    app.get('/promise', () => ({ page: { user: Promise.resolve({ name: 'Ada' }) } }))
    app.get('/map', (ctx) => ctx.json([{ rows: [new Map([['a', 1]])] }]))
    app.get('/set', () => ({ empty: {}, tags: new Set(['a']) }))
    app.get('/error', () => ({ error: new Error('hidden') }))
    app.get('/fine', () => ({ empty: {}, own: new URLSearchParams('a=b'), date: new Date(0) }))
    const said = await stderrLines(async () => {
      for (const path of ['/promise', '/map', '/set', '/error', '/fine', '/promise'])
        assert.equal((await app.inject(path)).status, 200)
    })
    const once = 'This is said once for a route, and not in production.'
    assert.deepEqual(said, [
      `volant: the reply of GET /promise has {} at page.user: it is a promise; await it. ${once}`,
      `volant: the reply of GET /map has {} at [0].rows[0]: it is a Map; Object.fromEntries(map) makes an object of it. ${once}`,
      `volant: the reply of GET /set has {} at tags: it is a Set; Array.from(set) makes an array of it. ${once}`,
      `volant: the reply of GET /error has {} at error: it is an Error; send its message. ${once}`,
    ])
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
      'E_NOT_SERIALISABLE',
      /^the reply of GET \/:n cannot be written as JSON: it is undefined; ctx\.reply\(204\)/,
      (ctx) => ctx.json(undefined),
    ],
    [
      'E_BAD_STATUS',
      /^a redirect has status 301, .*, not "302"$/,
      (ctx) => ctx.redirect('/', '302' as never),
    ],
    [
      'E_BAD_OPTION',
      /^length takes a number of bytes, not "3"$/,
      (ctx) => ctx.stream([], { length: '3' } as never),
    ],
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
    [
      'E_NOT_SERIALISABLE',
      /^ctx\.bytes takes a Buffer or another Uint8Array, not "x", in GET \/:n$/,
      (ctx) => ctx.bytes('x' as never),
    ],
    [
      'E_NOT_SERIALISABLE',
      /^ctx\.stream takes a stream, a generator or an array of chunks, not an object$/,
      (ctx) => ctx.stream({} as never),
    ],
    ['E_BAD_HEADER', /^the header x is longer than /, (ctx) => ctx.header('x', 'y'.repeat(100_000))],
    ['E_BAD_HEADER', /the character "😀" \(U\+1F600\)/, (ctx) => ctx.append('x', 'a😀')],
    ['E_BAD_STATUS', /, not "201"$/, (ctx) => ctx.status('201' as never)],
    [
      'E_BAD_STATUS',
      /, not an object: write ctx\.json\(value, status\) or ctx\.reply\(status, value\)$/,
      (ctx) => ctx.json(201, {} as never),
    ],
    ['E_BAD_STATUS', /, not an object: write ctx\.json/, (ctx) => ctx.reply({} as never, 201)],
    [
      'E_BAD_HEADER',
      /^an object is not a header name: write ctx\.header\(name, value\) for each header$/,
      (ctx) => ctx.header({ x: 'y' } as never, undefined as never),
    ],
    ['E_BAD_HEADER', /^"a b" is not a header name$/, (ctx) => ctx.header('a b', 'c')],
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

  test('ctx.status is called, and cannot be assigned', async () => {
    const app = kit.app()
    app.get('/', (ctx) => {
      Object.assign(ctx, { status: 201 })
      return 'made'
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/')).status, 500)
      assert.match((kit.reports.pop() as Error).message, /^Cannot assign to read only property 'status' of /)
    })
  })

  test('a Response that was read and a chunk that is none are named with their route', async () => {
    const app = kit.app()
    app.get('/response', async () => {
      const response = new Response('x')
      await response.text()
      return response
    })
    app.get('/chunk', (ctx) => ctx.stream([5 as never]))
    assert.equal((await app.inject('/response')).status, 500)
    assert.match(
      (kit.reports.pop() as VolantError).message,
      /^GET \/response replied with a Response whose body was/,
    )
    await assert.rejects(app.inject('/chunk'), { code: 'E_RESET' })
    assert.equal(
      (kit.reports.pop() as VolantError).message,
      'a chunk of the stream of GET /chunk is a string or bytes, not 5',
    )
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
        assert.match(await detail(path, null, '{}'), /; the body has no Content-Type and was read as bytes$/)
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
      assert.equal((await live.ask('/413')).statusText, 'Content Too Large')
      assert.equal((await live.ask('/422')).statusText, 'Unprocessable Content')
    })
    const injected = await app.inject({ method: 'POST', url: '/x', body: 'x'.repeat(20) })
    assert.equal(injected.statusText, 'Content Too Large')
    assert.equal(injected.json<{ title: string }>().title, 'Content Too Large')
  })
})

function carries(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
