/** A page to sign in on, with a session in a sealed cookie. Forms of other sites change nothing. */
import { randomBytes } from 'node:crypto'
import { createApp } from 'volant'
import { hashPassword, verifyPassword } from 'volant/auth'
import { rateLimit } from 'volant/rate-limit'
import { csrf, session } from 'volant/session'

interface Data {
  user: string
  cart: string[]
}

// In production the key comes from outside: SESSION_KEY="$(openssl rand -base64 32)".
const sessions = session<Data>({ keys: [process.env.SESSION_KEY ?? randomBytes(32).toString('base64')] })
const users = new Map([['ada', await hashPassword('enchantress of numbers')]])

export const app = createApp()
const pages = app.with(sessions).with(csrf())

pages.get('/sign-in', (ctx) =>
  ctx.html(`<!doctype html>
<title>Sign in</title>
<form method="post">
  <input name="name" autocomplete="username" required>
  <input name="password" type="password" autocomplete="current-password" required>
  <button>Sign in</button>
</form>`),
)

const attempts = rateLimit({ groupId: 'sign-in', max: 5, timeWindow: '15 minutes' })
pages.post('/sign-in', attempts, async (ctx) => {
  const { name, password } = await ctx.form()
  // A user who does not exist takes as long as one who does.
  const isRight = await verifyPassword(String(password), users.get(String(name)) ?? null)
  if (!isRight) return ctx.status(401).html('<p>Wrong name or password. <a href="/sign-in">Again</a>')
  await attempts.reset(ctx)
  ctx.state.session.signIn({ user: String(name), cart: ctx.state.session.get('cart')?.slice() ?? [] })
  return ctx.redirect('/account', 303)
})

pages.post('/sign-out', (ctx) => {
  ctx.state.session.signOut()
  return ctx.redirect('/sign-in', 303)
})

// Visitors have a cart, too.
pages.post('/cart/:book', (ctx) => {
  const cart = [...(ctx.state.session.get('cart') ?? []), ctx.params.book]
  ctx.state.session.set('cart', cart)
  return { cart }
})

pages.with(sessions.signedIn('user')).get('/account', (ctx) => ({
  user: ctx.state.user,
  cart: ctx.state.session.get('cart') ?? [],
}))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
