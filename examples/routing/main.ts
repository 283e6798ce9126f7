/** The routes show which one wins, what patterns capture, and how requests without a route are answered. */
import { createApp } from 'volant'

export const app = createApp()

app.get('/users', (ctx) => `page ${String(ctx.query.page ?? 1)}`)
app.get('/users/me', () => 'a path without parameters wins')
app.get('/users/:id', (ctx) => `user ${ctx.params.id}`)
app.on(['PUT', 'PATCH'], '/users/:id', (ctx) => `${ctx.method} of user ${ctx.params.id}`)

app.get('/badge/:label/:value.svg', (ctx) => `${ctx.params.label} is ${ctx.params.value}`)
app.get('/calendar/:year/:month?', (ctx) => ctx.params.month ?? `all of ${ctx.params.year}`)
app.get('/files/*path', (ctx) => `the file ${ctx.params.path}`)
app.all('/echo', (ctx) => ctx.method)

app.onNotFound((ctx) => `there is no ${ctx.path}`)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
