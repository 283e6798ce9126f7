import { createApp, HTTPError } from 'volant'
import { bearer, findUser, params } from '../shared/users.mjs'

const authenticate = (ctx, next) => {
  if (ctx.headers.authorization !== bearer) throw new HTTPError(401)
  return next()
}

const app = createApp({ adapter: { type: process.env.ADAPTER } })
app.get('/api/users/:id', authenticate, (ctx) => {
  const { success, data } = params.safeParse(ctx.params)
  if (!success) throw new HTTPError(400, 'id must be a whole number')
  const user = findUser.get(Number(data.id))
  if (!user) throw new HTTPError(404, 'User not found')
  return { user }
})
const { port } = await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${port}`)
