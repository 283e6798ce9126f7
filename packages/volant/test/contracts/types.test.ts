/** What the types of declared replies, errors and contracts let through, and what they refuse. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import {
  before,
  type ContextOf,
  contract,
  createApp,
  middleware,
  type Replied,
  type RootParts,
  type Scope,
} from '../../src/index.ts'

const User = z.object({ id: z.number(), name: z.string() })

test('values and replies are those that are declared', () => {
  const app = createApp({ signals: false })
  app.get('/one', { response: User }, () => ({ id: 1, name: 'a' }))
  app.get('/two', { response: User }, async (ctx) => ctx.json({ id: 1, name: 'a' }))
  app.get('/three', { response: { 201: User, 204: null } }, (ctx) =>
    ctx.method === 'GET' ? ctx.reply(201, { id: 1, name: 'a' }) : ctx.reply(204),
  )
  app.get('/four', { response: { 204: null } }, () => {})
  app.get('/five', { response: z.object({ kind: z.literal('a') }) }, () => ({ kind: 'a' }))
  app.get('/six', { response: User, errors: { A: { status: 404 } } }, (ctx) => ctx.fail('A'))
  app.get('/seven', { response: User }, () => {
    throw new Error('never')
  })
  // @ts-expect-error the value is not what is declared
  app.get('/w1', { response: User }, () => ({ id: '1', name: 'a' }))
  // @ts-expect-error nor is a promise of it
  app.get('/w2', { response: User }, async () => ({ id: 1 }))
  // @ts-expect-error a value is declared, and nothing is given
  app.get('/w3', { response: User }, () => {})
  // @ts-expect-error a returned value is that of 200
  app.get('/w4', { response: { 201: User } }, () => ({ id: 1, name: 'a' }))
  app.get('/w5', { response: { 201: User, 204: null } }, (ctx) => {
    // @ts-expect-error 200 is not declared
    void (() => ctx.reply(200, { id: 1, name: 'a' }))
    // @ts-expect-error 204 has no content
    void (() => ctx.reply(204, { id: 1, name: 'a' }))
    // @ts-expect-error 201 has
    void (() => ctx.reply(201))
    // @ts-expect-error this is not what it has
    void (() => ctx.reply(201, { id: 1 }))
    // @ts-expect-error the status cannot be left out where it is not 200
    void (() => ctx.json({ id: 1, name: 'a' }))
    return ctx.json({ id: 1, name: 'a' }, 201)
  })
  // As everywhere in TypeScript, what a function without a return type gives may have more.
  app.get('/more', { response: User }, () => ({ id: 1, name: 'a', more: 1 }))
  // @ts-expect-error it may not where the type is written
  app.get('/w6', { response: User }, (): z.input<typeof User> => ({ id: 1, name: 'a', more: 1 }))
  // @ts-expect-error nor in a call
  app.get('/w7', { response: User }, (ctx) => ctx.json({ id: 1, name: 'a', more: 1 }))
  // @ts-expect-error nor in this one
  app.get('/w8', { response: { 201: User } }, (ctx) => ctx.reply(201, { id: 1, name: 'a', more: 1 }))
  // @ts-expect-error a schema is missing
  assert.throws(() => app.get('/w9', { response: 5 }, () => 1))
  app.get('/r1', { response: { 302: null } }, (ctx) => ctx.redirect('/one'))
  app.get('/r2', { response: { 301: null, 200: User } }, async (ctx) =>
    ctx.method === 'GET' ? ctx.redirect('/one', 301) : { id: 1, name: 'a' },
  )
  app.get('/r3', { response: { 302: null, 303: null } }, (ctx) =>
    ctx.redirect('/one', ctx.method === 'GET' ? 302 : 303),
  )
  app.get('/r4', (ctx) => ctx.redirect('/one'))
  // @ts-expect-error 302 is not declared
  app.get('/w10', { response: { 301: null } }, (ctx) => ctx.redirect('/one'))
  // @ts-expect-error nor is 308
  app.get('/w11', { response: { 301: null, 302: null } }, (ctx) => ctx.redirect('/one', 308))
  app.get('/w12', (ctx) => {
    // @ts-expect-error 304 is no redirect
    void (() => ctx.redirect('/one', 304))
  })
  const replied = (value: Replied): void => value
  app.get('/free', (ctx) => replied(ctx.reply(418, 'tea')))
  assert.ok(app.routes().length > 5)
})

test('errors are those of the route and of what is in front of it', () => {
  const auth = middleware<{ user: { name: string } }>()(
    { errors: { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } } },
    (ctx, next) => {
      ctx.state.user = { name: 'a' }
      if (ctx.method === '') throw ctx.fail('UNAUTHORIZED', { realm: 'x' })
      // @ts-expect-error it does not declare this one
      void (() => ctx.fail('OTHER'))
      return next()
    },
  )
  const limit = before({ errors: { TOO_MANY: { status: 429 } } }, (ctx) => {
    if (ctx.method === '') throw ctx.fail('TOO_MANY')
  })
  const app = createApp({ signals: false })
  app.with(auth).get('/x', { errors: { GONE: { status: 410 } } }, limit, (ctx) => {
    void (() => [
      ctx.fail('UNAUTHORIZED', { realm: ctx.state.user.name }),
      ctx.fail('TOO_MANY'),
      ctx.fail('GONE'),
      ctx.fail('GONE', undefined, 'a message'),
    ])
    // @ts-expect-error nobody declares it
    void (() => ctx.fail('OTHER'))
    // @ts-expect-error its data is missing
    void (() => ctx.fail('UNAUTHORIZED'))
    // @ts-expect-error its data is something else
    void (() => ctx.fail('UNAUTHORIZED', { realm: 5 }))
    // @ts-expect-error it has none
    void (() => ctx.fail('GONE', { x: 1 }))
    return 1
  })
  app.get('/none', (ctx) => {
    // @ts-expect-error no error is declared
    void (() => ctx.fail('GONE'))
    return 1
  })
  // What asks for a context or a scope without errors takes one with errors.
  const root = (ctx: ContextOf<RootParts>): string => ctx.path
  const add = (scope: Scope): unknown => scope.get('/added', root)
  add(app.with(limit))
  app.get('/behind', limit, (ctx) => root(ctx))
  assert.equal(app.routes().length, 4)
})

test('a contract types its handler, wherever it is written', () => {
  const getUser = contract.get('/users/:id', {
    params: z.object({ id: z.coerce.number() }),
    response: User,
    errors: { GONE: { status: 410 } },
  })
  const ping = contract.get('/ping/:who')
  const auth = before<{ user: string }>((ctx) => void (ctx.state.user = 'a'))
  const app = createApp({ signals: false })
  app.implement(getUser, auth, (ctx) => {
    const id: number = ctx.params.id
    const name: string = ctx.state.user
    return id === 0 ? ctx.fail('GONE') : { id, name }
  })
  app.with(auth).implement(ping, (ctx) => ctx.params.who + ctx.state.user)
  const other = createApp({ signals: false })
  // @ts-expect-error not what the contract says
  other.implement(getUser, () => ({ id: 'x' }))
  other.implement(
    { ping },
    {
      ping: (ctx) => {
        // @ts-expect-error the path has no such parameter
        void ctx.params.id
        return ctx.params.who
      },
    },
  )
  // @ts-expect-error a handler is missing
  assert.throws(() => other.implement({ users: { getUser }, ping }, { ping: () => 1 }))
  // @ts-expect-error there is no such option
  contract.get('/x', { bodySize: 1 })
  assert.equal(getUser.method, 'GET')
})
