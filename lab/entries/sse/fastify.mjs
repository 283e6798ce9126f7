// Fastify with @fastify/sse, as its README shows it.
import { setTimeout as sleep } from 'node:timers/promises'
import sse from '@fastify/sse'
import Fastify from 'fastify'
import { interval, quote, subscribe } from './ticks.mjs'

const app = Fastify()
await app.register(sse)

app.get('/broadcast', { sse: { kind: 'only' } }, async (_, reply) => {
  reply.sse.keepAlive()
  reply.sse.sendHeaders()
  const end = subscribe((id) => {
    reply.sse.send({ id: String(id), event: 'quote', data: quote(id) }).catch(() => {})
  })
  reply.sse.onClose(end)
})

app.get('/own', { sse: { kind: 'only' } }, async (_, reply) => {
  let open = true
  reply.sse.onClose(() => {
    open = false
  })
  await reply.sse.send(
    (async function* () {
      for (let id = 1; open; id++) {
        yield { id: String(id), event: 'quote', data: quote(id) }
        await sleep(interval)
      }
    })(),
  )
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
