/** A client that leaves ends the work that was done for it. */
import { createApp, HTTPError } from 'volant'

export const upstream = process.env.UPSTREAM ?? 'http://localhost:4000'

export const app = createApp({ limits: { handlerTimeout: 10_000 } })

app.get('/report', async (ctx) => {
  // Aborted when the client leaves, when the handler's time is over, and when the server stops.
  const reply = await fetch(`${upstream}/slow`, { signal: ctx.signal })
  if (!reply.ok) throw new HTTPError(502, 'The service behind this one failed')
  return { report: await reply.text() }
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
