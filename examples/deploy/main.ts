/** A service as the files beside this one run it: behind nginx, in a container, on Kubernetes. */
import { setTimeout as wait } from 'node:timers/promises'
import { createApp, health } from 'volant'

export const app = createApp({ trustProxy: 'loopback' }) // nginx on this machine says who asks

app.register(health) // /health and /ready

app.get('/', (ctx) => ({ ip: ctx.ip, protocol: ctx.protocol, host: ctx.host }))
app.get('/prices', () => Array.from({ length: 200 }, (_, id) => ({ id, cents: id * 100 })))
app.get('/ticks', async function* (ctx) {
  ctx.header('content-type', 'text/plain; charset=utf-8')
  for (let tick = 0; !ctx.signal.aborted; tick++) {
    yield `tick ${tick}\n` // each arrives when it was written
    await wait(100)
  }
})
app.get('/events', (ctx) =>
  ctx.sse(async function* () {
    for (let id = 0; ; id++) {
      yield { id, event: 'tick', data: { id } }
      await wait(100, undefined, { signal: ctx.signal })
    }
  }),
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
