/** Procedures that are called in process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { middleware, validate, ValidationError } from 'volant'
import { caller, procedure, router } from 'volant/procedures'
import { Kit } from '../kit.ts'
import { api, Id, seen } from './users.ts'

const kit = new Kit()

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
    checked: procedure()
      .use(validate({ body: Id }))
      .query(() => 1),
    undeclared: procedure().query(({ ctx }) => {
      throw (ctx as unknown as { fail(code: string): Error }).fail('OTHER')
    }),
  })
  await assert.rejects(caller(replying).reply(), { code: 'E_PROCEDURE_CONTEXT', message: /no json/ })
  await assert.rejects(caller(replying).checked(), { code: 'E_PROCEDURE_CONTEXT', message: /no body/ })
  await assert.rejects(caller(replying).undeclared(), {
    code: 'E_UNDECLARED_ERROR',
    message: /the procedure undeclared .*declares none/,
  })
})
