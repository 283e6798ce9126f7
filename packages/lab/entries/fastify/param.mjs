import Fastify from 'fastify'

const app = Fastify()
app.get('/hi/:name', async (request) => ({ hi: request.params.name }))
app.get('/static', async () => ({ hi: 'Ada' }))
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
