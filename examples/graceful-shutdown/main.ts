/** SIGTERM and SIGINT close the app: no new connections, requests in flight are answered, then `onClose` hooks run. */
import { setTimeout as wait } from 'node:timers/promises'
import { createApp } from 'volant'

const app = createApp({ limits: { shutdownTimeout: 5_000 } }) // what is left after that is reset

app.get('/slow', async (ctx) => {
  await wait(300, undefined, { signal: ctx.signal })
  return 'done, although the server was told to stop'
})

app.onClose(() => console.log('closing the database'))

const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
