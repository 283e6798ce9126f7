/** These are four ways to one small reply, cheapest first; `npm run lab` and `npx autocannon` measure them. */
import { before, createApp, type Middleware } from 'volant'

const stamp = before((ctx) => ctx.header('x-served-by', 'volant'))
const stampAround: Middleware = async (ctx, next) => {
  ctx.header('x-served-by', 'volant')
  await next()
}

export const app = createApp()

app.get('/plain', () => ({ hello: 'world' })) // nothing is made but the reply
app.get('/gate', stamp, () => ({ hello: 'world' })) // one more call
app.get('/around', stampAround, () => ({ hello: 'world' })) // an async function, a promise, two closures
app.get('/web', (ctx) => new Response(`${ctx.request.method} is a web request`)) // Request, Headers, Response, a stream

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
