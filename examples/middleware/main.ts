/** Middleware runs around the handler or only before it, for all requests, some paths, or one route. */
import { before, createApp, HTTPError, type Middleware } from 'volant'

const requestId: Middleware = async (ctx, next) => {
  ctx.header('x-request-id', ctx.id) // headers come before the reply,
  await next()
  console.log(`${ctx.method} ${ctx.path} ${ctx.status()}`) // and its status is known after it
}

/** This costs less than a middleware with `next`. It throws, replies, or lets the request pass. */
const bearer = before((ctx) => {
  if (ctx.headers.authorization !== 'Bearer secret') {
    throw new HTTPError(401, 'A token is needed', { headers: { 'www-authenticate': 'Bearer' } })
  }
})

const noStore = before((ctx) => ctx.header('cache-control', 'no-store'))

export const app = createApp()

app.use(requestId)
app.use('/admin', bearer)

app.get('/', () => 'for everybody')
app.get('/admin/users', () => ['Ada', 'Grace'])
app.get('/clock', noStore, () => ({ now: Date.now() }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
