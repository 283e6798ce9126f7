/** Users: list, read, add. */
import { timingSafeEqual } from 'node:crypto'
import { type App, HTTPError, type Middleware } from 'volant'
import type { Database, NewUser } from './database.ts'

export function addUserRoutes(app: App, database: Database, token: string): void {
  app.get('/api/users', (ctx) => {
    const after = wholeNumber(ctx.query.after ?? '0', 'after', 0, Number.MAX_SAFE_INTEGER)
    const limit = wholeNumber(ctx.query.limit ?? '20', 'limit', 1, 100)
    const users = database.listUsers(after, limit)
    const last = users.length === limit ? users.at(-1) : undefined
    return { users, next: last ? `/api/users?after=${last.id}&limit=${limit}` : null }
  })

  app.get('/api/users/:id', bearer(token), (ctx) => {
    const id = wholeNumber(ctx.params.id, 'id', 1, Number.MAX_SAFE_INTEGER)
    const user = database.findUser(id)
    if (!user) throw new HTTPError(404, `There is no user ${id}`)
    return { user }
  })

  app.post('/api/users', (ctx) => {
    const user = database.addUser(newUser(ctx.body))
    if (!user) throw new HTTPError(409, 'There is a user with this email address already')
    ctx.header('location', `/api/users/${user.id}`).json({ user }, 201)
  })
}

/** Lets a request through that carries `Authorization: Bearer <token>` (RFC 6750 §2.1). */
function bearer(token: string): Middleware {
  const expected = Buffer.from(token)
  return (ctx, next) => {
    const given = Buffer.from(/^bearer +(.+)$/i.exec(ctx.headers.authorization ?? '')?.[1] ?? '')
    // Compared in constant time, so that the reply's timing does not tell how much of a guess was right.
    if (given.length === expected.length && timingSafeEqual(given, expected)) return next()
    throw new HTTPError(401, 'A bearer token is needed', { headers: { 'www-authenticate': 'Bearer' } })
  }
}

function wholeNumber(value: unknown, name: string, least: number, most: number): number {
  const number = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : NaN
  if (isWhole(number, least, most)) return number
  throw new HTTPError(400, `${name} must be a whole number from ${least} to ${most}`)
}

/** The body as a user, or a 400 that names everything wrong with it. */
function newUser(body: unknown): NewUser {
  const { name, email, age } = Object(body) as Partial<NewUser>
  const errors: Record<string, string> = {}
  if (!isText(name, 2, 100)) errors.name = 'must be text of 2 to 100 characters'
  if (!isText(email, 6, 254) || !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email))
    errors.email = 'must be an email address'
  if (!isWhole(age, 18, 120)) errors.age = 'must be a whole number from 18 to 120'
  if (Object.keys(errors).length > 0) throw new HTTPError(400, 'The user is not valid', { data: errors })
  return { name, email, age } as NewUser
}

function isText(value: unknown, least: number, most: number): value is string {
  return typeof value === 'string' && value.length >= least && value.length <= most
}

function isWhole(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
}
