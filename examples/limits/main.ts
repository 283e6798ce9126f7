/** Limits are on by default; these are tighter, for the app and for one route. */
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'volant'

export const app = createApp({
  limits: {
    maxBodySize: 16_384, // bytes
    handlerTimeout: 2_000, // milliseconds
    maxInFlight: 500, // requests; the next one gets 503
  },
})

app.post('/comments', (ctx) => ({ length: ctx.bodyText.length }))
app.post('/photos', { maxBodySize: 5_242_880 }, (ctx) => ({ bytes: ctx.bodyBytes.length }))
app.get('/slow', { handlerTimeout: 200 }, async (ctx) => {
  await wait(60_000, undefined, { signal: ctx.signal }) // aborted when its time is over
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
