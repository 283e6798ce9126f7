/** What middleware adds to `ctx.state` is typed for the routes behind it, and for no others. */
import { before, createApp, HTTPError } from 'volant'

interface User {
  name: string
  admin: boolean
}

const users = new Map<string, User>([
  ['Bearer ada', { name: 'Ada', admin: true }],
  ['Bearer bob', { name: 'Bob', admin: false }],
])

const signedIn = before<{ user: User }>((ctx) => {
  const user = users.get(ctx.headers.authorization ?? '')
  if (user === undefined) throw new HTTPError(401, 'Sign in first')
  ctx.state.user = user
})

const isAdmin = before<{ user: User }>((ctx) => {
  if (!ctx.state.user.admin) throw new HTTPError(403, 'For administrators only')
})

export const app = createApp()
const members = app.with(signedIn)
const admins = members.with(isAdmin)

app.get('/', () => 'for everybody')
members.get('/me', (ctx) => ({ name: ctx.state.user.name }))
admins.get('/users', () => [...users.values()].map(({ name }) => name))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
