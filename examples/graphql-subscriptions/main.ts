/** GraphQL with subscriptions: graphql-ws speaks its protocol on WebSockets of the app. */
import { buildSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { createApp, HTTPError } from 'volant'
import { createSocketServer } from 'volant/ws'

const schema = buildSchema(`
  type Query { me: String! }
  type Subscription { countdown(from: Int!): Int! }
`)
const roots = {
  query: { me: (_: unknown, { user }: { user: string }) => user },
  subscription: {
    async *countdown({ from }: { from: number }) {
      for (let left = from; left >= 0; left--) yield { countdown: left }
    },
  },
}
const users = new Map([['key-of-ada', 'Ada']])

export const app = createApp()

const sockets = createSocketServer<{ user: string }>()
app.ws('/graphql', {
  ...sockets.hooks,
  protocols: ['graphql-transport-ws'],
  upgrade(ctx) {
    const user = users.get(String(ctx.query.key))
    if (user === undefined) throw new HTTPError(401, 'Give the key that belongs to you: /graphql?key=…')
    return sockets.upgrade(ctx, { user })
  },
})
useServer({ schema, roots, context: ({ extra }) => sockets.dataOf(extra.socket) }, sockets)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
