import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import * as z from 'zod'
import { before, createApp, middleware, type ServerWebSocket, type WebSocketRoute } from '../src/index.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(value: Same<A, B>): void => assert.ok(value)

const app = () => createApp({ signals: false })

test('ws.data is what upgrade returns, and params are those of the pattern', () => {
  app().ws('/chat/:room', {
    upgrade(ctx) {
      same<typeof ctx.params, { room: string }>(true)
      // @ts-expect-error the pattern has no such parameter
      void ctx.params.name
      return { room: ctx.params.room, at: 1 }
    },
    open(ws) {
      same<typeof ws.data, { room: string; at: number }>(true)
      ws.send('text')
      ws.send(new Uint8Array(1))
      ws.json({ any: 'value' })
      // @ts-expect-error an object is sent by ws.json
      void (() => ws.send({ a: 1 }))
    },
    message(ws, message) {
      same<typeof message, string | Buffer>(true)
      ws.publish('a', message, { self: true })
      // @ts-expect-error it is a number
      ws.data.at.trim()
    },
    close(ws, code, reason) {
      same<[typeof code, typeof reason], [number, string]>(true)
      void ws.data.room
    },
    dropped: (ws, count) => count.toFixed() + ws.data.room,
    error: (ws, error) => {
      same<typeof error, unknown>(true)
      ws.close(1011)
    },
  })
})

test('ws.data: promises, replies that refuse, and none', () => {
  app().ws('/a', {
    async upgrade(ctx) {
      if (ctx.query['no']) return ctx.json({ no: true }, 403)
      if (ctx.query['text']) return ctx.text('no', 403)
      if (ctx.query['response']) return new Response(null, { status: 403 })
      await Promise.resolve()
      return { user: 'ada' }
    },
    open(ws) {
      same<typeof ws.data, { user: string }>(true)
    },
  })
  app().ws('/b', {
    open(ws) {
      same<typeof ws.data, undefined>(true)
    },
  })
  app().ws('/c', {
    upgrade(ctx) {
      ctx.header('x-a', 'b')
    },
    open(ws) {
      same<typeof ws.data, undefined>(true)
    },
  })
})

test('schemas type the request and the messages in both directions', () => {
  const route = app().ws('/rooms/:id', {
    params: z.object({ id: z.coerce.number() }),
    query: v.object({ as: v.string() }),
    in: z.object({ text: z.string(), at: z.coerce.date() }),
    out: z.object({ text: z.string(), from: z.string().default('nobody') }),
    errors: { FULL: { status: 409, data: z.object({ most: z.number() }) } },
    upgrade(ctx) {
      same<typeof ctx.params, { id: number }>(true)
      same<typeof ctx.query, { as: string }>(true)
      if (ctx.params.id > 9) throw ctx.fail('FULL', { most: 9 })
      // @ts-expect-error nobody declares this error
      void (() => ctx.fail('OTHER'))
      return { id: ctx.params.id }
    },
    message(ws, message) {
      same<typeof message, { text: string; at: Date }>(true)
      ws.send({ text: message.text })
      ws.json({ text: message.text })
      ws.publish('a', { text: 'a', from: 'b' })
      // @ts-expect-error the schema asks for a text
      void (() => ws.send({ text: 1 }))
      // @ts-expect-error the schema asks for more
      void (() => ws.json({}))
      // @ts-expect-error with a schema, messages are its values
      void (() => ws.send('text'))
    },
    invalid(ws, problem) {
      same<typeof problem.code, 1003 | 1007 | 1008>(true)
      void problem.issues[0]?.pointer
      ws.send({ text: problem.reason })
    },
  })
  same<typeof route.path, '/rooms/:id'>(true)
  same<typeof route.method, 'WS'>(true)
  route.publish('a', { text: 'a' })
  // @ts-expect-error the schema asks for a text
  void (() => route.publish('a', { text: 1 }))
  type Options = NonNullable<(typeof route)['types']>['options']
  same<z.output<Options['in']>, { text: string; at: Date }>(true)
  same<z.output<Options['out']>, { text: string; from: string }>(true)
  same<keyof Options, 'params' | 'query' | 'in' | 'out'>(true)
})

test('JSON Schema types messages as well', () => {
  app().ws('/a', {
    in: {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    },
    message(_, message) {
      same<typeof message.a, string>(true)
    },
  })
})

test('middleware and scopes type upgrade', () => {
  const auth = before<{ user: { id: number } }>()({ errors: { UNAUTHORIZED: { status: 401 } } }, () => {})
  const tenant = middleware<{ tenant: string }>((_, next) => next())
  const scope = app().with(auth)
  scope.ws('/a', {
    upgrade: (ctx) => ctx.state.user.id,
    open(ws) {
      same<typeof ws.data, number>(true)
    },
  })
  scope.ws('/b', tenant, {
    upgrade: (ctx) => {
      if (ctx.state.tenant === '') throw ctx.fail('UNAUTHORIZED')
      // @ts-expect-error no middleware adds this
      void ctx.state.other
      return [ctx.state.user.id, ctx.state.tenant] as const
    },
    open(ws) {
      same<typeof ws.data, readonly [number, string]>(true)
    },
  })
  app().ws('/c', auth, tenant, { upgrade: (ctx) => ctx.state.user.id + ctx.state.tenant })
  app().group('/d/:tenant', (group) => {
    group.ws('/:room', {
      upgrade: (ctx) => {
        same<string, typeof ctx.params.tenant>(true)
        return ctx.params.tenant + ctx.params.room
      },
    })
  })
})

test('functions that are written apart name the types', () => {
  const greet = (ws: ServerWebSocket<{ name: string }>): void => void ws.send(`hello ${ws.data.name}`)
  const count = (ws: ServerWebSocket): void => void ws.send('1')
  const route: WebSocketRoute = app().ws('/a', {
    upgrade: () => ({ name: 'ada' }),
    open: greet,
    drain: count,
  })
  assert.equal(route.path, '/a')
  const untyped = createApp({ signals: false })
  // @ts-expect-error there is no such option
  assert.throws(() => untyped.ws('/a', { maxPayload: 1 }), /maxMessageSize/)
  // @ts-expect-error options come last
  assert.throws(() => untyped.ws('/a', () => {}), /has no options/)
})
