/** Middleware of Express beside that of Volant: helmet, sessions, and a sign-in by passport. */
import session from 'express-session'
import helmet from 'helmet'
import passport from 'passport'
import { Strategy } from 'passport-local'
import { before, createApp, HTTPError } from 'volant'
import { connectOf, fromConnect } from 'volant/connect'

interface User {
  id: number
  name: string
}
const users: readonly User[] = [{ id: 7, name: 'ada' }]

passport.use(
  new Strategy((name: string, password: string, done: (error: unknown, user: User | false) => void) => {
    const user = users.find((each) => each.name === name)
    done(null, user !== undefined && password === 'correct horse' ? user : false)
  }),
)
passport.serializeUser((user: User, done: (error: unknown, id: number) => void) => done(null, user.id))
passport.deserializeUser((id: number, done: (error: unknown, user: User | false) => void) =>
  done(null, users.find((each) => each.id === id) ?? false),
)

export const app = createApp()

const secret = process.env.SESSION_SECRET ?? 'only for development'
app.use(
  fromConnect(
    helmet(),
    session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }),
    passport.session(),
  ),
)

// What a middleware puts on req is read by connectOf; `state` carries it on with a type.
const signedIn = before<{ user: User }>((ctx) => {
  const { user } = connectOf<{ user?: User }>(ctx).req
  if (user === undefined) throw new HTTPError(401, 'Sign in first')
  ctx.state.user = user
})

// passport reads req.body, which is there once something has parsed it.
const parsed = before((ctx) => void (connectOf<{ body: unknown }>(ctx).req.body = ctx.body))
app.post('/sign-in', parsed, fromConnect(passport.authenticate('local')), (ctx) => {
  return { welcome: connectOf<{ user: User }>(ctx).req.user.name }
})
app.with(signedIn).get('/me', (ctx) => ctx.state.user)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
