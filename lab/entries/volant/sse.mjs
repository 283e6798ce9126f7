// Volant, as docs/guide/32-server-sent-events.md shows it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createApp } from 'volant'
import { interval, quote, subscribe } from '../sse/ticks.mjs'

const app = createApp({ adapter: { type: process.env.ADAPTER } })

app.get('/broadcast', (ctx) =>
  ctx.sse((stream) => subscribe((id) => stream.send({ id, event: 'quote', data: quote(id) }))),
)

app.get('/own', (ctx) => {
  if (process.env.GENERATOR !== '1') {
    return ctx.sse((stream) => {
      let id = 0
      const timer = setInterval(() => {
        id++
        stream.send({ id, event: 'quote', data: quote(id) })
      }, interval)
      return () => clearInterval(timer)
    })
  }
  return ctx.sse(async function* () {
    for (let id = 1; ; id++) {
      yield { id, event: 'quote', data: quote(id) }
      await sleep(interval, undefined, { signal: ctx.signal })
    }
  })
})

const { port } = await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${port}`)
