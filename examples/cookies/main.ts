/** Cookies are read, set and ended here. By default they are HttpOnly, SameSite=Lax, and Secure over TLS. */
import { randomUUID } from 'node:crypto'
import { before, createApp, HTTPError } from 'volant'

const sessions = new Map<string, { name: string }>()

const session = before<{ user: { name: string } }>((ctx) => {
  const user = sessions.get(ctx.cookies.session ?? '')
  if (user === undefined) throw new HTTPError(401, 'Log in first')
  ctx.state.user = user
})

export const app = createApp()

app.post('/login/:name', (ctx) => {
  const id = randomUUID()
  sessions.set(id, { name: ctx.params.name })
  ctx.cookie('session', id, { maxAge: 86_400, sameSite: 'strict' }).reply(204)
})
app.get('/me', session, (ctx) => ctx.state.user)
app.post('/logout', (ctx) => {
  sessions.delete(ctx.cookies.session ?? '')
  ctx.clearCookie('session').reply(204)
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
