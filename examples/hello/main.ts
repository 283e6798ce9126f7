/** This is the smallest service. It listens on `PORT`, by default 3000. */
import { createApp } from 'volant'

export const app = createApp()

app.get('/', () => 'Hello World')
app.get('/hello/:name', (ctx) => ({ hello: ctx.params.name }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
