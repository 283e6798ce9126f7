/** A server with an API of users, and what the cases of the client share. */
import { middleware } from 'volant'
import * as z from 'zod'
import { Kit } from '../kit.ts'

export const User = z.object({ id: z.number(), name: z.string(), born: z.date() })

export const born = new Date(Date.UTC(1815, 11, 10))

export const kit = new Kit()

export const auth = middleware<{ user: string }>()(
  { errors: { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } } },
  async (ctx, next) => {
    if (ctx.headers['authorization'] === undefined) throw ctx.fail('UNAUTHORIZED', { realm: 'users' })
    ctx.state.user = ctx.headers['authorization']
    await next()
  },
)

/** An app with its routes, some behind middleware, one in an app that is mounted. */
export function serverOf() {
  const app = kit.app()
  const inside = kit.app()
  const api = {
    users: {
      get: app.with(auth).get(
        '/users/:id',
        {
          params: z.object({ id: z.coerce.number() }),
          response: User,
          errors: { USER_NOT_FOUND: { status: 404, data: z.object({ id: z.number() }) } },
        },
        (ctx) => {
          const { id } = ctx.params
          if (id === 0) throw ctx.fail('USER_NOT_FOUND', { id })
          return { id, name: ctx.state.user, born }
        },
      ),
      add: app.post(
        '/users',
        {
          body: z.object({ name: z.string().min(1) }),
          response: { 201: User, 204: null, 409: z.object({ taken: z.string() }) },
        },
        (ctx) => {
          if (ctx.body.name === 'taken') return ctx.reply(409, { taken: ctx.body.name })
          if (ctx.body.name === 'nobody') return ctx.reply(204)
          return ctx.reply(201, { id: 1, name: ctx.body.name, born })
        },
      ),
    },
    echo: app.post('/echo/:a/*rest', (ctx) => ({
      params: { ...ctx.params },
      query: { ...ctx.query },
      cookies: { ...ctx.cookies },
      type: ctx.headers['content-type'] ?? null,
      key: ctx.headers['x-key'] ?? null,
      body: ctx.body instanceof Uint8Array ? [...ctx.body] : (ctx.body ?? null),
    })),
    mounted: inside.get('/deep/:id?', (ctx) => ctx.params.id ?? 'none'),
  }
  app.mount('/inside', inside)
  app.expose(api)
  return { app, api }
}
