import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import * as z from 'zod'
import {
  before,
  type Context,
  cors,
  createApp,
  HTTPError,
  logger,
  middleware,
  type Middleware,
  type ParamsOf,
  type Plugin,
  type Scope,
  validate,
} from '../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = { [K in keyof T]: T[K] }
const same = <A, B>(value: Same<Flat<A>, Flat<B>>): void => assert.ok(value)

test('parameters are typed by the pattern', () => {
  same<ParamsOf<'/a/b'>, {}>(true)
  same<ParamsOf<'/a/:id'>, { id: string }>(true)
  same<ParamsOf<'/a/:id/b/:other'>, { id: string; other: string }>(true)
  same<ParamsOf<'/badge/:label/:value.svg'>, { label: string; value: string }>(true)
  same<ParamsOf<'/v/:name-x'>, { name: string }>(true)
  same<ParamsOf<'/o/:x?'>, { x?: string }>(true)
  same<ParamsOf<'/f/*rest'>, { rest: string }>(true)
  same<ParamsOf<'/f/*'>, { '*': string }>(true)
  same<ParamsOf<'/time/12::30'>, {}>(true)
  same<ParamsOf<string>, Record<string, string>>(true)
})

test('a cookie of an injected reply has a value', async () => {
  const app = createApp({ signals: false })
  app.get('/', (ctx) => ctx.cookie('a', 'b').text('c'))
  const [cookie] = (await app.inject('/')).cookies
  const value: string | undefined = cookie?.value
  same<NonNullable<typeof cookie>['value'], string>(true)
  assert.equal(value, 'b')
})

test('handlers, middleware and options are typed', () => {
  const app = createApp({ signals: false })
  app.get('/u/:id', (ctx) => {
    const id: string = ctx.params.id
    // @ts-expect-error the pattern has no such parameter
    void ctx.params.name
    return { id }
  })
  app.post(
    '/u/:id',
    (ctx, next) => (ctx.params.id === '' ? ctx.json({}, 400) : next()),
    (ctx) => ctx.json({ body: ctx.body, id: ctx.params.id }, 201),
  )
  app.put(
    '/u/:id',
    { maxBodySize: 10, beforeBody: (ctx) => void ctx.params.id.length },
    (ctx) => ctx.params.id,
  )
  const general: Middleware = async (ctx: Context, next: () => Promise<void>) => {
    ctx.state['user'] = { id: 1 }
    await next()
  }
  app.use(general)
  app.get('/g/:x', general, (ctx) => ctx.params.x)
  // @ts-expect-error a route has a handler
  assert.throws(() => app.get('/none'))
  // @ts-expect-error there is no such option
  assert.throws(() => app.get('/bad', { bodySize: 1 }, () => 1))
  assert.equal(app.get('/route', () => 1).path, '/route')
})

test('schemas type the parts they check, in options and as middleware', () => {
  const app = createApp({ signals: false })
  const id = z.object({ id: z.coerce.number() })
  const user = z.object({ name: z.string(), age: z.number() })
  app.post('/o/:id', { params: id, query: z.object({ q: z.string().optional() }), body: user }, (ctx) => {
    same<typeof ctx.params, { id: number }>(true)
    same<typeof ctx.query, { q?: string | undefined }>(true)
    same<typeof ctx.body, { name: string; age: number }>(true)
    return ctx.body
  })
  app.post('/m/:id', validate({ params: id, body: user }), async (ctx) => {
    const { name, age } = ctx.body
    same<typeof ctx.params.id, number>(true)
    return { name: name.trim(), age: age + 1, id: ctx.params.id }
  })
  app.get('/v', { query: v.object({ page: v.pipe(v.string(), v.transform(Number)) }) }, (ctx) => {
    same<typeof ctx.query.page, number>(true)
    return ctx.query.page
  })
  app.get('/none/:a', { query: z.object({}) }, (ctx) => {
    same<typeof ctx.params.a, string>(true)
    return 1
  })
  // @ts-expect-error the params schema misses 'id' of the path
  app.get('/bad/:id', { params: z.object({ other: z.string() }) }, () => 1)
  // @ts-expect-error there is no route option 'parms'
  assert.throws(() => app.get('/bad2/:id', { parms: id }, () => 1))
  // @ts-expect-error no schema
  assert.throws(() => app.get('/bad3', { query: { kind: 'object' } }, () => 1))
  app.get('/x', { query: z.object({ a: z.string() }) }, (ctx) => {
    // @ts-expect-error the schema has no such key
    void ctx.query.b
    return ctx.query.a
  })
})

test('state is typed per scope', () => {
  interface User {
    id: number
    role: 'admin' | 'user'
  }
  const auth = middleware<{ user: User }>(async (ctx, next) => {
    ctx.state.user = { id: 1, role: 'user' }
    await next()
  })
  const tenant = before<{ tenant: string }>((ctx) => void (ctx.state.tenant = 'acme'))
  const app = createApp({ signals: false })
  app.use((ctx, next) => {
    ctx.state['anything'] = 1
    return next()
  })
  const scope = app.with(auth)
  scope.get('/me', (ctx) => {
    same<typeof ctx.state, { user: User }>(true)
    // @ts-expect-error nobody declared it
    void ctx.state.tenant
    return ctx.state.user.role
  })
  scope.with(tenant).group('/t/:org', (group) => {
    group.get('/x/:id', auth, (ctx) => {
      same<typeof ctx.params, { org: string; id: string }>(true)
      const text: string = ctx.state.tenant + ctx.state.user.role
      return text
    })
  })
  app.get('/one', auth, tenant, (ctx) => ctx.state.user.id + ctx.state.tenant.length)
  const plugin = (inside: Scope, options: { name: string }) => void inside.get(`/${options.name}`, () => 1)
  app.register(plugin, { name: 'plugged' })
  // @ts-expect-error the plugin's options have a name
  assert.throws(() => app.register(plugin, { nam: 1 }) && app.register(plugin, { nam: 1 }))
  scope.register((inside: typeof scope) => void inside.get('/typed', (ctx) => ctx.state.user.id))
})

test('a context that fits any route, and one with named parts', () => {
  const app = createApp({ signals: false })
  const authenticate = async (ctx: Context, next: () => Promise<void>) => {
    const token: string | undefined = ctx.headers.authorization
    if (token !== 'Bearer valid-token') {
      ctx.json({ error: 'Unauthorized' }, 401)
      return
    }
    await next()
  }
  app.get(
    '/api/users/:id',
    authenticate,
    validate({ params: z.object({ id: z.string().regex(/^\d+$/) }) }),
    async (ctx) => {
      const userId = parseInt(ctx.params.id)
      if (!userId) throw new HTTPError(404)
      ctx.json({ userId })
    },
  )
  app.get('/coerced/:id', validate({ params: z.object({ id: z.coerce.number() }) }), authenticate, (ctx) =>
    ctx.params.id.toFixed(),
  )
  const show = (ctx: Context<{ params: { id: string } }>) => ctx.params.id
  app.get('/show/:id', show)
  // @ts-expect-error the route has no id
  app.get('/show2/:name', show)
  const any: Middleware = (ctx, next) => (ctx.path === '/' ? ctx.text('root') : next())
  app.use(any)
  app.on(['GET', 'POST'], '/on/:id', { query: z.object({ n: z.coerce.number() }) }, (ctx) => {
    same<typeof ctx.query.n, number>(true)
    return ctx.params.id
  })
  app.all('/six', any, any, any, any, any, any, any, (ctx) => ctx.method)
})

test('negotiation, cookies and origin are typed', () => {
  const app = createApp({
    signals: false,
    trustProxy: { from: ['loopback', '10.0.0.0/8'], headers: 'forwarded' },
  })
  app.get('/u', (ctx) => {
    const type: 'json' | 'html' | false = ctx.accepts('json', 'html')
    const all: string[] = ctx.queryAll('a')
    const one: string | string[] | undefined = ctx.query['a']
    const protocol: 'http' | 'https' = ctx.protocol
    ctx.cookie('a', 'b', { maxAge: 60, sameSite: 'strict' }).clearCookie('c')
    // @ts-expect-error there is no such option
    ctx.cookie('a', 'b', { expiresIn: 1 })
    // @ts-expect-error a cookie is text
    ctx.cookie('a', 1)
    // @ts-expect-error set by the server
    ctx.protocol = 'http'
    return { type, all, one, protocol, host: ctx.host, ips: ctx.ips }
  })
  // @ts-expect-error there is no such kind of header
  assert.throws(() => createApp({ trustProxy: { from: true, headers: 'x-real-ip' } }))
})

test('files, fetch and inject are typed', () => {
  const app = createApp({ signals: false })
  app.get('/f/*path', (ctx) => {
    const sent: Promise<void> = ctx.file(ctx.params.path, { root: 'public', download: true })
    // @ts-expect-error there is no such option
    void (() => ctx.file('a', { maxAge: 1 }))
    return sent
  })
  const { fetch } = app
  same<typeof fetch, (request: Request) => Promise<Response>>(true)
  const typed = async (): Promise<number> => {
    const reply = await app.inject({ url: '/', query: { a: [1, 'b'] }, cookies: { c: 'd' } })
    const cookie: string | undefined = reply.cookies[0]?.value
    void cookie
    // @ts-expect-error there is no such option
    void (() => app.inject({ url: '/', payload: 1 }))
    return reply.json<{ n: number }>().n
  }
  assert.equal(typeof typed, 'function')
})

test('a parameter that a schema of the scope checks has the type of the schema, the others are text', async () => {
  const app = createApp({ signals: false })
  app.group('/:tenant', (group) => {
    const checked = group.with(validate({ params: z.object({ id: z.coerce.number() }) }))
    checked.get('/:id/:page', (ctx) => {
      const id: number = ctx.params.id
      // @ts-expect-error it is no text any more
      const text: string = ctx.params.id
      const page: string = ctx.params.page
      return [typeof id, typeof text, page]
    })
  })
  assert.deepEqual((await app.inject('/acme/7/last')).json(), ['number', 'number', 'last'])
})

test('options may be undefined, and a plugin’s scope is typed', async () => {
  const app = createApp({ adapter: undefined, limits: undefined, router: { caseSensitive: undefined } })
  app.use(logger({ destination: undefined, level: 'silent' }), cors({ maxAge: undefined }))
  const plugin: Plugin<{ at: string }> = (scope, { at }) => {
    scope.get('/:id', (ctx) => {
      same<typeof ctx.params, { id: string }>(true)
      return `${at} ${ctx.params.id}`
    })
    // @ts-expect-error there is no such method
    void scope.gett
  }
  app.get(
    '/parts/:id',
    { query: z.object({ a: z.string() }), body: undefined, maxBodySize: undefined },
    (ctx) => {
      same<typeof ctx.query, { a: string }>(true)
      same<typeof ctx.params, { id: string }>(true)
      const body: unknown = ctx.body
      return { body }
    },
  )
  app.register(plugin, { at: 'here' })
  app.register((scope) => {
    // @ts-expect-error there is no such method
    void scope.gett
  })
  assert.equal((await app.inject({ url: '/1', method: undefined })).text(), 'here 1')
})
