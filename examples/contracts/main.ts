/** One declaration of a route gives its types, checks what goes in and out, and names its errors. */
import { createApp, middleware } from 'volant'
import * as z from 'zod'

const User = z.object({ id: z.number(), name: z.string() })
const users = new Map([[1, { id: 1, name: 'Ada', password: 'enchantress' }]])

const signedIn = middleware(
  { errors: { SIGN_IN: { status: 401, description: 'Sign in first' } } },
  (ctx, next) => {
    if (ctx.headers.authorization === undefined) throw ctx.fail('SIGN_IN')
    return next()
  },
)

// Undeclared properties are left out, as in production; without this option they are an error in development.
export const app = createApp({ undeclaredProperties: 'strip' })

app.get(
  '/users/:id',
  {
    summary: 'One user',
    params: z.object({ id: z.coerce.number<number>().int() }),
    response: User,
    errors: { USER_NOT_FOUND: { status: 404, data: z.object({ id: z.number() }) } },
  },
  (ctx) => {
    const user = users.get(ctx.params.id)
    if (user === undefined) throw ctx.fail('USER_NOT_FOUND', { id: ctx.params.id })
    return user
  },
)

app.with(signedIn).post(
  '/users',
  {
    summary: 'Add a user',
    body: z.object({ name: z.string().min(1) }),
    response: { 201: User, 204: null },
  },
  (ctx) => {
    const { name } = ctx.body
    if ([...users.values()].some((user) => user.name === name)) return ctx.reply(204)
    const user = { id: users.size + 1, name, password: 'none yet' }
    users.set(user.id, user)
    return ctx.reply(201, user)
  },
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
