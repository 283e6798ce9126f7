/** The value that a handler returns is the reply; `ctx` sets status, headers and other forms of replies. */
import { createApp } from 'volant'

export const app = createApp()

app.get('/text', () => 'a string is text/plain')
app.get('/json', () => ({ an: 'object', is: ['JSON'] }))
app.get('/bytes', () => new Uint8Array([1, 2, 3]))
app.get('/nothing', () => null)
app.get('/response', () => new Response('of the web', { status: 202 }))
app.get('/later', async () => ({ users: await countUsers() }))

app.get('/page', (ctx) => ctx.html('<h1>Hello</h1>'))
app.get('/old', (ctx) => ctx.redirect('/page', 301))
app.post('/users', (ctx) => {
  ctx.header('location', '/users/7')
  ctx.json({ id: 7 }, 201)
})
app.delete('/users/:id', (ctx) => ctx.reply(204))
app.get('/badge.svg', (ctx) => {
  ctx.header('content-type', 'image/svg+xml').header('cache-control', 'max-age=300')
  return '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'
})

async function countUsers(): Promise<number> {
  return 1_000
}

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
