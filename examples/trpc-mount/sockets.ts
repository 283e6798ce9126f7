/** A router of @trpc/server for clients with a wsLink: calls and subscriptions over one WebSocket. */
import { initTRPC, tracked } from '@trpc/server'
import { applyWSSHandler } from '@trpc/server/adapters/ws'
import { createApp } from 'volant'
import { createSocketServer } from 'volant/ws'
import * as z from 'zod'

const t = initTRPC.context<{ user: string }>().create()

const router = t.router({
  greet: t.procedure
    .input(z.object({ name: z.string() }))
    .query(({ input, ctx }) => `${ctx.user} greets ${input.name}`),
  count: t.procedure
    .input(z.object({ to: z.number(), lastEventId: z.coerce.number().default(0) }))
    .subscription(async function* ({ input }) {
      // A client whose connection was lost asks for what comes after its last event.
      for (let count = input.lastEventId + 1; count <= input.to; count++) yield tracked(`${count}`, count)
    }),
})
export type SocketRouter = typeof router

export const app = createApp()

const sockets = createSocketServer<{ user: string }>()
app.ws('/trpc', {
  ...sockets.hooks,
  upgrade: (ctx) => sockets.upgrade(ctx, { user: String(ctx.query.user ?? 'Somebody') }),
})
const { broadcastReconnectNotification } = applyWSSHandler({
  wss: sockets,
  router,
  createContext: ({ res }) => sockets.dataOf(res),
})
app.onClosing(broadcastReconnectNotification)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
