// What VeloxTS stands on: tRPC's adapter for Fastify, and beside it REST routes by Fastify's own compilers.
import { initTRPC } from '@trpc/server'
import { fastifyTRPCPlugin } from '@trpc/server/adapters/fastify'
import Fastify from 'fastify'
import * as make from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { routerOf } from '../trpc-router.mjs'

const app = Fastify({ routerOptions: { maxParamLength: 5_000 } })
app.register(fastifyTRPCPlugin, { prefix: '/trpc', trpcOptions: { router: routerOf(initTRPC) } })
if (process.env.PROGRAM === 'playground') addRoutes()
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)

function addRoutes() {
  const [string, integer] = [{ type: 'string' }, { type: 'integer' }]
  const object = (properties) => ({ type: 'object', required: Object.keys(properties), properties })
  const health = object({
    status: { const: 'ok' },
    version: string,
    timestamp: string,
    uptime: { type: 'number' },
  })
  const user = object({ id: string, name: string, email: string, createdAt: string, updatedAt: string })
  const users = object({
    data: { type: 'array', items: user },
    meta: object({ page: integer, limit: integer, total: integer }),
  })

  app.get('/api/health', { schema: { response: { 200: health } } }, (request, reply) => {
    ran()
    reply.send(make.health())
  })
  app.get('/api/users', { schema: { response: { 200: users } } }, (request, reply) => {
    ran()
    reply.send(make.userList())
  })
}
