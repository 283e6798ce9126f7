import { createApp, HTTPError, middleware, type Context, validate } from 'volant'
import { z } from 'zod'

const visitor = middleware<{ visitor: { role: 'guest' | 'member' } }>((ctx, next) => {
  ctx.state.visitor = { role: ctx.headers.authorization ? 'member' : 'guest' }
  return next()
})

const app = createApp()

app.use(async (ctx, next) => {
  ctx.header('x-request-id', ctx.id)
  await next()
})

function greet(ctx: Context<{ params: { name: string } }>) {
  if (ctx.params.name === 'nobody') throw new HTTPError(404, 'Nobody is there')
  return { hello: ctx.params.name }
}
app.get('/hello/:name', greet)
// @ts-expect-error a pattern without the parameter that the handler reads
app.get('/bye/:surname', greet)

const visits = app.with(visitor)
export const visit = visits.post(
  '/visits/:room',
  {
    params: z.object({ room: z.coerce.number().int() }),
    query: z.object({ page: z.coerce.number().default(1) }),
    body: z.object({ at: z.iso.datetime().transform((text) => new Date(text)) }),
  },
  (ctx) => {
    const room: number = ctx.params.room
    const page: number = ctx.query.page
    const at: Date = ctx.body.at
    const role: 'guest' | 'member' = ctx.state.visitor.role
    // @ts-expect-error the schema knows no such key
    void ctx.body.nothing
    return { room, page, at, role }
  },
)

app.post('/names', validate({ body: z.object({ name: z.string() }) }), (ctx) =>
  ctx.json(ctx.body.name.trim(), 201),
)

const { url } = await app.listen(0)
console.log(`${app.adapterName} ${url}`)
