/** A chat with rooms. Its clients have the types of its messages, and connect again when the server restarts. */
import { createApp, middleware } from 'volant'
import * as z from 'zod'

const ToServer = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('say'), text: z.string().min(1).max(500) }),
  z.object({ kind: z.literal('typing') }),
])
const ToClient = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('said'), by: z.string(), text: z.string(), at: z.date() }),
  z.object({ kind: z.literal('typing'), by: z.string() }),
])

/** A browser sends no headers with a WebSocket: the token is in the query. */
const signedIn = middleware<{ user: string }>()({ errors: { SIGN_IN: { status: 401 } } }, (ctx, next) => {
  const [, user] = /^token-of-(\w+)$/.exec(String(ctx.query['token'])) ?? []
  if (user === undefined) throw ctx.fail('SIGN_IN')
  ctx.state.user = user
  return next()
})

export const app = createApp()

/** Clients import the type of this object, and no code. */
export const api = {
  chat: app.with(signedIn).ws('/chat/:room', {
    query: z.object({ token: z.string() }),
    in: ToServer,
    out: ToClient,
    upgrade: (ctx) => ({ user: ctx.state.user, room: `chat/${ctx.params.room}` }),
    open: (ws) => ws.subscribe(ws.data.room),
    message(ws, message) {
      const by = ws.data.user
      if (message.kind === 'typing') ws.publish(ws.data.room, { kind: 'typing', by })
      else ws.publish(ws.data.room, { kind: 'said', by, text: message.text, at: new Date() }, { self: true })
    },
  }),
}
app.expose(api)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
