/** Users: they sign up, in and out. A page then has a session in its cookie, a program sends a token. */
import type { App } from 'volant'
import { anyOf, hashPassword, requireRole, verifyPassword } from 'volant/auth'
import { jwt, signJwt } from 'volant/jwt'
import { rateLimit } from 'volant/rate-limit'
import { session } from 'volant/session'
import type { z } from 'zod'
import { api, User } from './api.ts'
import type { Database } from './database.ts'
import type { Settings } from './settings.ts'

type UserRow = z.infer<typeof User> & { password: string }
const issuer = 'bookshop'

/** Gives the scopes of members, who have signed in, and of clerks among them. */
export async function accounts(app: App, database: Database, { secrets, clerk }: Settings) {
  const [secret = ''] = secrets
  const sessions = session<{ user: z.infer<typeof User> }>({ keys: secrets })
  const bearer = jwt({ secret: secrets, algorithms: ['HS256'], issuer, schema: User })
  const visitors = app.with(sessions)
  const members = visitors.with(anyOf(sessions.signedIn('user'), bearer))
  const add = async (email: string, password: string, role: string) => {
    const [user] = await database.rows<UserRow>(
      'INSERT INTO users (email, password, role) VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING email, role',
      email.toLowerCase(),
      await hashPassword(password),
      role,
    )
    return user
  }

  visitors.with(rateLimit({ max: 10, timeWindow: '1 hour' })).implement(api.session.signUp, async (ctx) => {
    const user = await add(ctx.body.email, ctx.body.password, 'customer')
    if (user === undefined) throw ctx.fail('EMAIL_TAKEN')
    return ctx.reply(201, user)
  })

  // Ten failures of an address in a quarter of an hour are enough for people, and too few for programs that guess.
  const limit = rateLimit({ max: 10, timeWindow: '15 minutes', refund: (_, { status }) => status === 200 })
  visitors.with(limit).implement(api.session.signIn, async (ctx) => {
    const { email, password } = ctx.body
    const [row] = await database.rows<UserRow>('SELECT * FROM users WHERE email = ?', email.toLowerCase())
    // A user who does not exist takes as long as one who does.
    const isRight = await verifyPassword(password, row?.password ?? null)
    if (row === undefined || !isRight) throw ctx.fail('WRONG_PASSWORD')
    const user = User.parse(row)
    ctx.state.session.signIn({ user })
    ctx.log.info({ role: user.role }, 'signed in')
    const token = await signJwt(user, { secret, algorithm: 'HS256', issuer, expiresIn: '1 hour' })
    return { ...user, token }
  })

  members.implement(api.session.read, (ctx) => ctx.state.user)
  members.implement(api.session.signOut, (ctx) => {
    ctx.state.session.signOut()
    ctx.reply(204)
  })

  if (clerk !== undefined) {
    const [, email, password] = /^([^:]+@[^:]+):(.{8,200})$/.exec(clerk) ?? []
    if (!email || !password) throw new Error('CLERK is not an email, a colon and 8 characters or more')
    await add(email, password, 'clerk')
  }
  return { members, clerks: members.with(requireRole('clerk')) }
}

export type Members = Awaited<ReturnType<typeof accounts>>['members']
