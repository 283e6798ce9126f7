/** An app is a function from `Request` to `Response`, and handlers may be given such functions. */
import { createApp } from 'volant'

const shop = createApp()
shop.get('/items/:id', (ctx) => ({ item: ctx.params.id }))

// Wherever a fetch handler is wanted: in tests, in workers, in other frameworks.
export const { fetch: askShop } = shop

/** Some library's handler, written for `Request` and `Response`. */
async function legacy(request: Request): Promise<Response> {
  return Response.json({ method: request.method, sent: await request.text() }, { status: 202 })
}

export const app = createApp()
app.get('/shop/:id', (ctx) => askShop(new Request(`http://shop/items/${ctx.params.id}`)))
app.all('/legacy/*', (ctx) => legacy(ctx.request))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
