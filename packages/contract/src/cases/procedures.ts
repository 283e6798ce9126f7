import assert from 'node:assert/strict'
import { test } from 'node:test'
import { before, HTTPError, middleware, ValidationError, VolantError } from 'volant'
import { caller, procedure, router, tracked } from 'volant/procedures'
import * as z from 'zod'
import type { Kit } from '../kit.ts'

const Id = z.object({ id: z.string().min(2) })

export function procedures(kit: Kit): void {
  const seen: string[] = []
  const auth = before<{ user: string }>((ctx) => {
    const name = ctx.headers['x-user']
    if (name === undefined) throw new HTTPError(401, 'who are you?', { code: 'UNAUTHORIZED' })
    ctx.state.user = name
  })
  const around = middleware<{ depth: number }>(async (ctx, next) => {
    seen.push('in')
    ctx.state.depth = 1
    await next()
    seen.push('out')
  })
  const authed = procedure().use(auth).use(around)
  const api = router({
    ping: procedure().query(() => 'pong'),
    users: router({
      get: authed
        .input(Id)
        .output(z.object({ id: z.string(), by: z.string() }))
        .errors({ NO_USER: { status: 404, description: 'no such user', data: z.object({ id: z.string() }) } })
        .query(({ input, ctx, path }) => {
          if (input.id === 'none') throw ctx.fail('NO_USER', { id: input.id })
          return { id: `${input.id}@${path}`, by: `${ctx.state.user}${ctx.state.depth}` }
        }),
      rename: procedure()
        .input(z.object({ name: z.string().transform((name) => name.toUpperCase()) }))
        .mutation(async ({ input }) => ({ name: input.name })),
    }),
    count: procedure()
      .input(z.object({ to: z.number() }))
      .output(z.number().max(3))
      .subscription(async function* ({ input }) {
        for (let at = 1; at <= input.to; at++) yield at === 2 ? tracked('two', at) : at
      }),
  })

  test('calls in process run middleware, check input and output, and are typed', async () => {
    const call = caller(api, { headers: { 'x-user': 'ann' } })
    const pong: string = await call.ping()
    assert.equal(pong, 'pong')
    seen.length = 0
    const user: { id: string; by: string } = await call.users.get({ id: 'u1' })
    assert.deepEqual(user, { id: 'u1@users.get', by: 'ann1' })
    assert.deepEqual(seen, ['in', 'out'])
    assert.deepEqual(await call.users.rename({ name: 'bob' }), { name: 'BOB' })
    // @ts-expect-error -- a number is no id
    await assert.rejects(call.users.get({ id: 7 }), (error: unknown) => {
      assert.ok(error instanceof ValidationError)
      assert.deepEqual(
        error.issues.map(({ in: part, pointer }) => [part, pointer]),
        [['input', '#/id']],
      )
      return true
    })
  })

  test('calls in process throw what the procedure threw', async () => {
    await assert.rejects(caller(api).users.get({ id: 'u1' }), { status: 401, code: 'UNAUTHORIZED' })
    const call = caller(api, { headers: { 'x-user': 'ann' } })
    await assert.rejects(call.users.get({ id: 'none' }), {
      status: 404,
      code: 'NO_USER',
      data: { id: 'none' },
      message: 'no such user',
    })
  })

  test('errors of middleware are those of the procedure, too', async () => {
    const limited = middleware(
      { errors: { BUSY: { status: 429, data: z.object({ after: z.number() }) } } },
      (ctx, next) => {
        if (ctx.headers['x-busy'] !== undefined) throw ctx.fail('BUSY', { after: 5 })
        return next()
      },
    )
    const tree = router({
      work: procedure()
        .use(limited)
        .errors({ DONE: { status: 410 } })
        .query(({ ctx }) => {
          if (ctx.headers['x-again'] !== undefined) throw ctx.fail('BUSY', { after: 9 })
          throw ctx.fail('DONE')
        }),
    })
    await assert.rejects(caller(tree).work(), { status: 410, code: 'DONE' })
    await assert.rejects(caller(tree, { headers: { 'x-busy': '1' } }).work(), {
      status: 429,
      data: { after: 5 },
    })
    await assert.rejects(caller(tree, { headers: { 'x-again': '1' } }).work(), {
      status: 429,
      data: { after: 9 },
    })
  })

  test('a subscription in process is an async iterable of checked events', async () => {
    const events: unknown[] = []
    await assert.rejects(
      (async () => {
        for await (const event of await caller(api).count({ to: 5 })) events.push(event)
      })(),
      { code: 'E_RESPONSE_INVALID' },
    )
    assert.deepEqual(events, [1, { id: 'two', data: 2 }, 3])
  })

  test('a call from a handler sees its request, and has a state of its own', async () => {
    const app = kit.app()
    app.use((ctx, next) => {
      ctx.state.user = 'app'
      return next()
    })
    const inner = router({
      whoami: procedure().query(({ ctx }) => {
        const before: unknown = ctx.state.user
        ctx.state.user = 'call'
        return `${String(before)} ${ctx.method} ${ctx.url}`
      }),
    })
    app.get('/who', async (ctx) => [await caller(inner, ctx).whoami(), ctx.state.user])
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/who?x=1')
      assert.deepEqual(reply.json(), ['app GET /who?x=1', 'app'])
    })
  })

  test('middleware may answer in place of the handler; to swallow an error is no answer', async () => {
    const early = router({
      cached: procedure()
        .use(middleware(() => ({ from: 'cache' })))
        .query((): object => assert.fail('not to be called')),
      swallowed: procedure()
        .use(middleware((_, next) => next().catch(() => {})))
        .query(() => {
          throw new HTTPError(418)
        }),
      stopped: procedure()
        .use(middleware(() => {}))
        .query(() => 1),
      both: procedure()
        .use(
          middleware(async (_, next) => {
            await next()
            return 2
          }),
        )
        .query(() => 1),
      twice: procedure()
        .use(
          middleware(async (_, next) => {
            await next()
            await next()
          }),
        )
        .query(() => 1),
      unheld: procedure()
        .use(middleware((_, next) => void next()))
        .query(async () => 1),
    })
    const call = caller(early)
    assert.deepEqual(await call.cached(), { from: 'cache' })
    await assert.rejects(call.swallowed(), { status: 418 })
    await assert.rejects(call.stopped(), { code: 'E_NEXT_MISSING' })
    await assert.rejects(call.both(), { code: 'E_ALREADY_REPLIED' })
    await assert.rejects(call.twice(), { code: 'E_NEXT_TWICE' })
    assert.equal(await call.unheld(), 1)
  })

  test('a context of procedures says what it has not', async () => {
    const replying = router({
      reply: procedure()
        .use(
          middleware((ctx, next) => {
            ctx.json({})
            return next()
          }),
        )
        .query(() => 1),
      undeclared: procedure().query(({ ctx }) => {
        throw (ctx as unknown as { fail(code: string): Error }).fail('OTHER')
      }),
    })
    await assert.rejects(caller(replying).reply(), { code: 'E_UNSUPPORTED', message: /no json/ })
    await assert.rejects(caller(replying).undeclared(), {
      code: 'E_UNDECLARED_ERROR',
      message: /the procedure undeclared .*declares none/,
    })
  })

  test('mistakes are refused when they are made', () => {
    const bad = (make: () => unknown, code: string, message: RegExp) =>
      assert.throws(make, (error: unknown) => {
        assert.ok(error instanceof VolantError, String(error))
        assert.equal(error.code, code)
        assert.match(error.message, message)
        return true
      })
    bad(() => procedure().input({} as never), 'E_BAD_SCHEMA', /input/)
    bad(() => procedure().input(Id).input(Id), 'E_BAD_OPTION', /one input schema/)
    bad(() => procedure().use(7 as never), 'E_BAD_HANDLER', /middleware/)
    bad(
      () => procedure().use(middleware({ onResponse() {} }, (_, next) => next())),
      'E_BAD_OPTION',
      /app.use/,
    )
    bad(() => procedure().errors({ A: { status: 200 } }), 'E_BAD_STATUS', /A takes a status/)
    bad(() => procedure().meta({ title: 'x' } as never), 'E_BAD_OPTION', /title/)
    bad(() => procedure().rest({ path: 'x' }), 'E_BAD_OPTION', /rest.path/)
    bad(() => procedure().query(7 as never), 'E_BAD_HANDLER', /handler of a query/)
    bad(() => router({ call: procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
    bad(() => router({ 'a.b': procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
    bad(() => router({ ['__proto__']: procedure().query(() => 1) }), 'E_BAD_OPTION', /name/)
    bad(() => router({ a: procedure() as never }), 'E_BAD_OPTION', /last step/)
    bad(() => caller({} as never), 'E_BAD_OPTION', /router/)
    bad(() => tracked('', 1), 'E_BAD_OPTION', /one line/)
    bad(() => tracked('a\nb', 1), 'E_BAD_OPTION', /one line/)
  })
}
