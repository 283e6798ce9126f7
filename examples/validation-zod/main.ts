/** Zod checks requests. The handler sees the output of the schemas; one 400 lists all that is wrong. */
import { createApp, validate } from 'volant'
import * as z from 'zod'

const Id = z.object({ id: z.coerce.number<number>().int().positive() })
const Page = z.object({ limit: z.coerce.number<number>().int().min(1).max(100).default(20) })
const User = z.object({ name: z.string().min(1), email: z.email(), admin: z.boolean().default(false) })

export const app = createApp()

app.get('/users', { query: Page }, (ctx) => ({ limit: ctx.query.limit }))
app.post('/users', { body: User }, (ctx) => ctx.json({ id: 1, ...ctx.body }, 201))
app.put('/users/:id', { params: Id, body: User }, (ctx) => ({ id: ctx.params.id, ...ctx.body }))

// As a middleware: for several routes at once, or between others.
app.with(validate({ query: Page })).get('/posts', (ctx) => ({ limit: ctx.query.limit }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
