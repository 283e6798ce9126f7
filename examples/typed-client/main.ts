/** The server names its routes for its clients. It uses Zod, because the client has the types of the schemas. */
import { createApp, middleware } from 'volant'
import * as z from 'zod'

const User = z.object({ id: z.number(), name: z.string(), born: z.date() })
const users = new Map([[1, { id: 1, name: 'Ada', born: new Date('1815-12-10') }]])

const signedIn = middleware({ errors: { SIGN_IN: { status: 401 } } }, (ctx, next) => {
  if (ctx.headers.authorization === undefined) throw ctx.fail('SIGN_IN')
  return next()
})

export const app = createApp()

/** Clients import the type of this object, and no code. */
export const api = {
  users: {
    get: app.get(
      '/users/:id',
      {
        params: z.object({ id: z.coerce.number<number>() }),
        response: User,
        errors: { USER_NOT_FOUND: { status: 404, data: z.object({ id: z.number() }) } },
      },
      (ctx) => {
        const user = users.get(ctx.params.id)
        if (user === undefined) throw ctx.fail('USER_NOT_FOUND', { id: ctx.params.id })
        return user
      },
    ),
    add: app
      .with(signedIn)
      .post('/users', { body: z.object({ name: z.string().min(1) }), response: { 201: User } }, (ctx) => {
        const user = { id: users.size + 1, name: ctx.body.name, born: new Date() }
        users.set(user.id, user)
        return ctx.reply(201, user)
      }),
  },
  countdown: app.get('/countdown/:from', async function* (ctx) {
    for (let n = Number(ctx.params.from); n > 0; n--) yield `${n} `
  }),
}
app.expose(api)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
