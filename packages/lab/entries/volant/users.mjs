import { createApp, HTTPError, validate } from 'volant'
import { bearer, findUser, params } from '../users-service.mjs'

const authenticate = (ctx, next) => {
  if (ctx.headers.authorization !== bearer) throw new HTTPError(401)
  return next()
}

const app = createApp({ adapter: { type: process.env.ADAPTER } })
app.get('/api/users/:id', authenticate, validate({ params }), (ctx) => {
  const user = findUser.get(Number(ctx.params.id))
  if (!user) throw new HTTPError(404, 'User not found')
  return { user }
})
const { port } = await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${port}`)
