/** The hook runs for every reply of the app. `etag()` is registered behind it, so it tags what is not compressed yet. */
import { createApp, etag } from 'volant'
import { compress } from './compress.ts'

export const app = createApp()
app.onSend(compress)
app.use(etag())

app.get('/prices', () => Array.from({ length: 200 }, (_, id) => ({ id, cents: id * 100 })))
app.get('/short', () => ({ ok: true }))
app.get('/log', async function* (ctx) {
  ctx.header('content-type', 'text/plain; charset=utf-8')
  for (let line = 0; line < 3; line++) yield `line ${line}\n` // each arrives when it was written
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
