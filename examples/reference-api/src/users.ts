/** Users: list, read, add. */
import { HTTPError, type Scope } from 'volant'
import { z } from 'zod'
import { bearer } from './bearer.ts'
import type { Database } from './database.ts'

const Page = z.object({
  after: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  limit: wholeNumber(1, 100).default(20),
})

const Id = z.object({ id: wholeNumber(1, Number.MAX_SAFE_INTEGER) })

const NewUser = z.object({
  name: z.string().min(2).max(100),
  email: z.email().max(254),
  age: z.int().min(18).max(120),
})

export function users(scope: Scope, { database, token }: { database: Database; token: string }): void {
  scope.get('/users', { query: Page }, (ctx) => {
    const { after, limit } = ctx.query
    const users = database.listUsers(after, limit)
    const last = users.length === limit ? users.at(-1) : undefined
    return { users, next: last ? `/api/users?after=${last.id}&limit=${limit}` : null }
  })

  scope.with(bearer(token)).get('/users/:id', { params: Id }, (ctx) => {
    const { id } = ctx.params
    const user = database.findUser(id)
    if (!user) throw new HTTPError(404, `There is no user ${id}`)
    return { user }
  })

  scope.post('/users', { body: NewUser }, (ctx) => {
    const user = database.addUser(ctx.body)
    if (!user) throw new HTTPError(409, 'There is a user with this email address already')
    ctx.header('location', `/api/users/${user.id}`).json({ user }, 201)
  })
}

/** Paths and queries are text: this takes decimal digits and nothing else. */
function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,16}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .pipe(z.int().min(least).max(most))
}
