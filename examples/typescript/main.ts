/** Types follow from what is written: from the pattern, the schemas and the middleware. */
import { before, type Context, createApp } from 'volant'
import * as z from 'zod'

interface User {
  id: number
  name: string
}

const signedIn = before<{ user: User }>((ctx) => {
  ctx.state.user = { id: 1, name: 'Ada' }
})

/** A handler that is written elsewhere says what it needs from its route. */
const show = (ctx: Context<{ params: { slug: string }; state: { user: User } }>) => ({
  slug: ctx.params.slug,
  seenBy: ctx.state.user.name,
})

export const app = createApp()
const members = app.with(signedIn)

members.get('/posts/:slug', show)
members.put('/posts/:slug', { body: z.object({ title: z.string() }) }, (ctx) => ({
  slug: ctx.params.slug, // string, from the pattern
  title: ctx.body.title, // string, from the schema
  by: ctx.state.user.id, // number, from the middleware
}))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
