// Fastify, as one worker of node:cluster. While it closes it answers what comes on open connections and says that they
// close: by default it would refuse that with 503, for a proxy that sends it elsewhere.
import Fastify from 'fastify'
import { answer, host, nonceIn, orphan, port, ready, worker } from './work.mjs'

const app = Fastify({ return503OnClosing: false })
app.addHook('onRequest', async (_, reply) => void reply.header('x-worker', worker))
app.get('/json', async () => ({ message: 'Hello World' }))
app.get('/orphan', async () => orphan())
app.get('/:nonce', ({ params }) => answer('GET', nonceIn(params.nonce)))
app.post('/:nonce', ({ body }) => answer('POST', nonceIn(body)))

export function close() {
  return app.close()
}

await app.listen({ port, host })
ready()
