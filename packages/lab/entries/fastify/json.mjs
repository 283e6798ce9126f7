import Fastify from 'fastify'

const app = Fastify()
app.get('/json', async () => ({ message: 'Hello World' }))
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
