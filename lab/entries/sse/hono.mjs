// Hono with streamSSE, as its documents show it.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { interval, quote, subscribe } from './ticks.mjs'

const app = new Hono()
const event = (id) => ({ id: String(id), event: 'quote', data: JSON.stringify(quote(id)) })

app.get('/broadcast', (c) =>
  streamSSE(c, async (stream) => {
    const end = subscribe((id) => void stream.writeSSE(event(id)))
    await new Promise((resolve) => stream.onAbort(resolve))
    end()
  }),
)

app.get('/own', (c) =>
  streamSSE(c, async (stream) => {
    for (let id = 1; !stream.aborted; id++) {
      await stream.writeSSE(event(id))
      await stream.sleep(interval)
    }
  }),
)

serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' }, ({ port }) =>
  console.log(`listening on ${port}`),
)
