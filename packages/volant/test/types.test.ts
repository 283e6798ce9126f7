import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Context, createApp, type Middleware, type ParamsOf } from '../src/index.ts'

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
