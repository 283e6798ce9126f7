/** Errors that routes and middleware declare. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, middleware, type Problem } from 'volant'
import * as z from 'zod'
import { kit, reported, User } from './kit.ts'

describe('declared errors', () => {
  const Missing = z.object({ id: z.number() })
  const auth = middleware<{ user: string }>()(
    { errors: { UNAUTHORIZED: { status: 401, description: 'Who are you?' } } },
    (ctx, next) => {
      if (ctx.headers['authorization'] === undefined) throw ctx.fail('UNAUTHORIZED')
      ctx.state.user = 'ann'
      return next()
    },
  )

  test('ctx.fail makes the errors of route and middleware', async () => {
    const app = kit.app()
    app
      .with(auth)
      .get(
        '/users/:id',
        { response: User, errors: { USER_NOT_FOUND: { status: 404, data: Missing } } },
        (ctx) => {
          if (ctx.params.id === '0') throw ctx.fail('USER_NOT_FOUND', { id: 0 })
          if (ctx.params.id === '1') return ctx.fail('USER_NOT_FOUND', { id: 1 }, 'No user one')
          if (ctx.params.id === '2') throw ctx.fail('UNAUTHORIZED')
          return { id: 3, name: ctx.state.user }
        },
      )
    await kit.serve(app, async (live) => {
      const headers = { authorization: 'x' }
      const none = await live.ask('/users/0')
      assert.equal(none.status, 401)
      assert.deepEqual(none.json(), {
        type: 'about:blank',
        title: 'Unauthorized',
        status: 401,
        detail: 'Who are you?',
        code: 'UNAUTHORIZED',
      })
      const zero = await live.ask('/users/0', { headers })
      assert.equal(zero.headers['content-type'], 'application/problem+json; charset=utf-8')
      assert.deepEqual(zero.json(), {
        type: 'about:blank',
        title: 'Not Found',
        status: 404,
        code: 'USER_NOT_FOUND',
        data: { id: 0 },
      })
      assert.equal(((await live.ask('/users/1', { headers })).json() as Problem).detail, 'No user one')
      assert.equal((await live.ask('/users/2', { headers })).status, 401)
      assert.deepEqual((await live.ask('/users/3', { headers })).json(), { id: 3, name: 'ann' })
    })
  })

  test('undeclared codes and data the schema rejects are mistakes of the program', async () => {
    const app = kit.app()
    const errors = { GONE: { status: 410, data: z.object({ at: z.number() }) } }
    app.get('/code', { errors }, (ctx) => {
      throw ctx.fail('OTHER' as never, 1 as never)
    })
    app.get('/none', (ctx) => {
      throw (ctx.fail as unknown as (code: string) => Error)('OTHER')
    })
    app.get('/data', { errors }, (ctx) => {
      throw ctx.fail('GONE', { at: 'secret' } as never)
    })
    const optional = { NO: { status: 404, data: z.string().optional() } }
    app.get('/optional', { errors: optional }, (ctx) => ctx.fail('NO', undefined))
    app.get('/strip', { errors }, (ctx) => {
      throw ctx.fail('GONE', { at: 1, hash: 'secret' } as { at: number })
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/code')).status, 500)
      reported('E_UNDECLARED_ERROR', /^GET \/code declares no error "OTHER"; it declares GONE$/)
      assert.equal((await live.ask('/none')).status, 500)
      reported('E_UNDECLARED_ERROR', /it declares none/)
      assert.equal((await live.ask('/data')).status, 500)
      reported('E_RESPONSE_INVALID', /^GET \/data: the data of GONE is not what its schema says: #\/at: /)
      assert.equal((await live.ask('/optional')).status, 404)
      assert.equal((await live.ask('/strip')).status, 500)
      reported('E_RESPONSE_UNDECLARED', /hash/)
    })
    const production = kit.app({ undeclaredProperties: 'strip' })
    production.get('/strip', { errors }, (ctx) =>
      ctx.fail('GONE', { at: 1, hash: 'secret' } as { at: number }),
    )
    await kit.serve(production, async (live) => {
      assert.deepEqual(((await live.ask('/strip')).json() as Problem).data, { at: 1 })
    })
  })

  test('ctx.fail ends the request, however it is called', async () => {
    const app = kit.app()
    const guard = before({ errors: { SIGN_IN: { status: 401 } } }, (ctx) => {
      if (ctx.headers['authorization'] === undefined) ctx.fail('SIGN_IN')
    })
    const errors = { GONE: { status: 410 } }
    app.get('/guarded', guard, () => 'secret')
    app.get('/alone', { errors }, (ctx) => {
      ctx.fail('GONE')
    })
    app.get('/awaited', { errors }, async (ctx) => {
      await Promise.resolve()
      ctx.fail('GONE')
    })
    app.get('/thrown', { errors }, (ctx) => {
      throw ctx.fail('GONE')
    })
    app.get('/given', { errors }, (ctx) => ctx.query['found'] ?? ctx.fail('GONE'))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/guarded')).status, 401)
      assert.equal((await live.ask('/guarded', { headers: { authorization: 'x' } })).text, 'secret')
      for (const path of ['/alone', '/awaited', '/thrown', '/given']) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 410, path)
        assert.equal((reply.json() as Problem).code, 'GONE')
      }
      assert.equal((await live.ask('/given?found=yes')).text, 'yes')
    })
  })

  test('middleware of a scope declares for its misses, too', async () => {
    const app = kit.app()
    app.use(
      before({ errors: { CLOSED: { status: 503 } } }, (ctx) => {
        if (ctx.query['open'] === undefined) throw ctx.fail('CLOSED')
      }),
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/nowhere')).status, 503)
      assert.equal((await live.ask('/nowhere?open')).status, 404)
    })
  })

  test('one code has one status', async () => {
    const app = kit.app()
    app.with(auth).get('/x', { errors: { UNAUTHORIZED: { status: 403 } } }, () => 1)
    await assert.rejects(app.inject('/x'), {
      code: 'E_BAD_OPTION',
      message: /^GET \/x: the error UNAUTHORIZED is declared with status 401 and with 403/,
    })
  })

  test('a declaration that is changed after the start harms its own route only', async () => {
    const app = kit.app({ report: () => undefined })
    const errors = { CLOSED: { status: 503 } }
    app.use((ctx, next) => {
      ctx.header('x-outer', 'ran')
      return next()
    })
    app.get(
      '/changed',
      before({ errors }, () => undefined),
      () => 1,
    )
    app.get('/other', () => 2)
    await kit.serve(app, async (live) => {
      // The first request starts an app that does not listen.
      await live.ask('/other')
      Object.assign(errors, { CLOSED: null })
      for (let round = 0; round < 2; round++) {
        const reply = await live.ask('/changed')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['x-outer'], 'ran')
      }
      assert.equal((await live.ask('/other')).status, 200)
    })
  })

  test('options that are used again, and changed, are those of the moment', async () => {
    const app = kit.app()
    const options: Record<string, unknown> = {
      body: z.object({ a: z.number() }),
      response: { 200: z.object({ a: z.number() }) },
      errors: { GONE: { status: 410 } },
    }
    app.post('/a', options as object, (ctx) => {
      if (ctx.query['gone'] !== undefined) (ctx as unknown as { fail(code: string): never }).fail('GONE')
      return ctx.body
    })
    Object.assign(options['response'] as object, { 200: z.string() })
    Object.assign((options['errors'] as { GONE: object }).GONE, { status: 404 })
    options['body'] = z.object({ b: z.number() })
    delete options['response']
    app.post('/b', options as object, (ctx) => ctx.body)
    delete options['body']
    await kit.serve(app, async (live) => {
      const post = (path: string, body: string) => live.post(path, 'application/json', body)
      assert.deepEqual((await post('/a', '{"a":1}')).json(), { a: 1 })
      assert.equal((await post('/a', '{"evil":true}')).status, 400)
      assert.equal((await post('/a?gone', '{"a":1}')).status, 410)
      assert.deepEqual((await post('/b', '{"b":1}')).json(), { b: 1 })
      assert.equal((await post('/b', '{"a":1}')).status, 400)
    })
  })
})
