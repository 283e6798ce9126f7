/** Signing in and out. Whoever signs in with a name that is new keeps that name, with this password. */
import type { App } from 'volant'
import { hashPassword, verifyPassword } from 'volant/auth'
import { rateLimit } from 'volant/rate-limit'
import { session, type SessionStore } from 'volant/session'
import { z } from 'zod'
import { Name } from './messages.ts'
import type { Store } from './store.ts'

const Credentials = z.object({
  name: Name,
  password: z.string().min(8, 'A password has 8 characters or more').max(200),
})
const Member = z.object({ name: z.string() })
const WRONG_PASSWORD = {
  status: 401,
  description: 'The name is taken, and this is not its password',
} as const

/** Gives the routes, and the scope of those who have signed in. `signedOut` is called with the id of a session that ends. */
export function accounts(
  app: App,
  store: Store,
  sessionStore: SessionStore,
  signedOut: (session: string) => void,
) {
  const sessions = session<{ user: string }>({
    store: sessionStore,
    idleTimeout: '1 day',
    absoluteTimeout: '7 days',
  })
  const visitors = app.with(sessions)
  const members = visitors.with(sessions.signedIn('user'))
  // A hash takes long, so that failures are counted before one is made.
  const limit = rateLimit({ max: 10, timeWindow: '15 minutes', refund: (_, { status }) => status === 200 })

  const read = members.get('/api/session', { response: Member }, (ctx) => ({ name: ctx.state.user }))
  const signIn = visitors
    .with(limit)
    .post(
      '/api/session',
      { body: Credentials, response: Member, errors: { WRONG_PASSWORD } },
      async (ctx) => {
        const { name, password } = ctx.body
        const isNew =
          (await store.hashOf(name)) === null && (await store.add(name, await hashPassword(password)))
        if (!isNew && !(await verifyPassword(password, await store.hashOf(name))))
          throw ctx.fail('WRONG_PASSWORD')
        ctx.state.session.signIn({ user: name })
        return { name }
      },
    )
  const signOut = members.delete('/api/session', { response: { 204: null } }, (ctx) => {
    signedOut(ctx.state.session.id)
    ctx.state.session.signOut()
    return ctx.reply(204)
  })
  return { members, session: { read, signIn, signOut } }
}

export type Members = ReturnType<typeof accounts>['members']
