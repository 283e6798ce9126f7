// Fastify without a plugin: the reply is taken over, and its events are written to the response of Node.js.
import Fastify from 'fastify'
import { interval, quote, subscribe } from './ticks.mjs'

const text = (id) => `id: ${id}\nevent: quote\ndata: ${JSON.stringify(quote(id))}\n\n`
const app = Fastify()

const open = (reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  reply.raw.flushHeaders()
  return reply.raw
}

app.get('/broadcast', (_, reply) => {
  const raw = open(reply)
  raw.on(
    'close',
    subscribe((id) => raw.write(text(id))),
  )
})

app.get('/own', (_, reply) => {
  const raw = open(reply)
  let id = 0
  const timer = setInterval(() => raw.write(text(++id)), interval)
  raw.on('close', () => clearInterval(timer))
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
