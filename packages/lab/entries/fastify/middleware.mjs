// What Fastify calls middleware are hooks; the request id is its own option.
import Fastify from 'fastify'

const prefix = `${Math.random().toString(36).slice(2, 10)}-`
let last = 0
const app = Fastify({ genReqId: () => prefix + (++last).toString(36) })
app.decorateRequest('message', '')

app.get('/none', async () => ({ message: 'Hello World' }))
app.register(async (scope) => {
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  scope.addHook('onRequest', (request, reply, done) => {
    reply.header('access-control-allow-origin', '*')
    done()
  })
  scope.addHook('onRequest', (request, reply, done) => {
    request.message = 'Hello World'
    done()
  })
  scope.get('/three', async (request) => ({ message: request.message }))
})
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
