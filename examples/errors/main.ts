/** Errors are thrown anywhere and answered in one place. Without `onError` and `onNotFound` they are problem documents. */
import { createApp, HTTPError, problemOf } from 'volant'

class OutOfStock extends Error {
  readonly item: string

  constructor(item: string) {
    super(`${item} is out of stock`)
    this.item = item
  }
}

export const app = createApp({
  report: (error, ctx) => console.error(`${ctx.method} ${ctx.path}:`, (error as Error).message),
})

app.get('/teapot', () => {
  throw new HTTPError(418, 'I cannot brew coffee', { code: 'TEAPOT', data: { short: true, stout: true } })
})
app.get('/buy/:item', (ctx) => {
  throw new OutOfStock(ctx.params.item)
})
app.get('/broken', () => {
  throw new Error('the password of the database is wrong')
})

app.onNotFound((ctx) => ctx.html(`<h1>No page at ${escape(ctx.path)}</h1>`))
app.onError((error, ctx) => {
  if (error instanceof OutOfStock) return ctx.reply(409, { item: error.item, detail: error.message })
  ctx.append('vary', 'accept') // caches have to know that the page depends on it
  if (ctx.accepts('problem', 'html') !== 'html') return // the problem document, then
  const { title, detail = '' } = problemOf(error) // what a client may see of it
  ctx.html(`<h1>${title}</h1><p>${escape(detail)}`)
})

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
