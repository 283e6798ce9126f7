// Zod as Fastify's validator: what fastify-type-provider-zod does, without its part for OpenAPI.
import Fastify from 'fastify'
import { bearer, findUser, params } from '../shared/users.mjs'

const app = Fastify()
app.setValidatorCompiler(({ schema }) => (value) => {
  const { success, data, error } = schema.safeParse(value)
  return success ? { value: data } : { error }
})

function authenticate(request, reply, done) {
  if (request.headers.authorization === bearer) done()
  else reply.code(401).send({ error: 'Unauthorized' })
}

app.get('/api/users/:id', { onRequest: authenticate, schema: { params } }, async (request, reply) => {
  const user = findUser.get(Number(request.params.id))
  if (!user) return reply.code(404).send({ error: 'User not found' })
  return { user }
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
