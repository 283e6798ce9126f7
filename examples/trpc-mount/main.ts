/** The fetch adapter of @trpc/server serves a router that was written with it. The router does not change. */
import { initTRPC } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { createApp } from 'volant'
import * as z from 'zod'

const t = initTRPC.context<{ user: string }>().create()

const router = t.router({
  greet: t.procedure
    .input(z.object({ name: z.string() }))
    .query(({ input, ctx }) => `${ctx.user} greets ${input.name}`),
})
export type AppRouter = typeof router

export const app = createApp()

app.on(['GET', 'POST'], '/trpc/*', (ctx) =>
  fetchRequestHandler({
    endpoint: '/trpc',
    req: ctx.request,
    router,
    createContext: () => ({ user: ctx.headers['x-user'] ?? 'Somebody' }),
  }),
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
