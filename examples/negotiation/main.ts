/** One address has several forms, and the client gets the one it prefers. */
import { createApp, HTTPError } from 'volant'

const users = [
  { id: 1, name: 'Ada' },
  { id: 2, name: 'Grace' },
]

export const app = createApp()

app.get('/users', (ctx) => {
  ctx.append('vary', 'accept') // caches have to know that the reply depends on it
  switch (ctx.accepts('json', 'csv', 'html')) {
    case 'json':
      return users
    case 'csv':
      ctx.header('content-type', 'text/csv; charset=utf-8')
      return users.map(({ id, name }) => `${id},${name}\n`).join('')
    case 'html':
      return ctx.html(`<ul>${users.map(({ name }) => `<li>${name}`).join('')}</ul>`)
    default:
      throw new HTTPError(406, 'There is JSON, CSV and HTML')
  }
})

const greetings = { en: 'Hello', fr: 'Bonjour' }

app.get('/greeting', (ctx) => greetings[ctx.acceptsLanguages('en', 'fr') || 'en'])

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
