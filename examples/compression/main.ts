/** Replies are compressed for clients that accept it, and a route reads what clients have compressed. */
import { createApp, etag } from 'volant'
import { compress, decompress } from 'volant/compress'

export const app = createApp()
app.use(compress())
app.use(etag()) // the tags are of what is not compressed yet, whichever comes first

app.get('/prices', () => Array.from({ length: 200 }, (_, id) => ({ id, cents: id * 100 })))
app.get('/short', () => ({ ok: true })) // below 1,024 bytes it is left as it is
app.get('/log', async function* (ctx) {
  ctx.header('content-type', 'text/plain; charset=utf-8')
  for (let line = 0; line < 3; line++) yield `line ${line}\n` // what was given arrives when the stream pauses
})

// This reply has a secret beside a text of the client, see BREACH below.
app.get('/form', { compress: false }, (ctx) => ({ token: 'f3d1…', query: ctx.query['q'] ?? '' }))

app.post('/import', decompress(), (ctx) => ({ rows: (ctx.body as unknown[]).length }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
