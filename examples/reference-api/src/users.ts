/** Users: list, read, add. */
import type { Scope } from 'volant'
import { cacheControl } from 'volant/middleware'
import { bearer } from 'volant/auth'
import { rateLimit } from 'volant/rate-limit'
import { api } from './api.ts'
import type { Database } from './database.ts'
import { isDiskFull } from './sqlite.ts'

interface UsersSettings {
  readonly database: Database
  readonly token: string
  /** How many users one address may add in a minute. */
  readonly mostAdded: number
}

export function users(scope: Scope, { database, token, mostAdded }: UsersSettings): void {
  // The error thrown here is the client's reply; SQLite's own error is reported beside it.
  scope.onError((error, ctx) => {
    if (isDiskFull(error)) throw ctx.fail('DISK_FULL')
  })

  scope.implement(api.users.list, (ctx) => {
    const { after, limit } = ctx.query
    const users = database.listUsers(after, limit)
    const last = users.length === limit ? users.at(-1) : undefined
    return { users, next: last ? `/api/users?after=${last.id}&limit=${limit}` : null }
  })

  // In front of the checks: who has no token is not told what is wrong with an id.
  scope
    .with(bearer({ token }))
    .with(cacheControl({ noStore: true }))
    .implement(api.users.find, (ctx) => {
      const { id } = ctx.params
      const user = database.findUser(id)
      if (!user) throw ctx.fail('USER_NOT_FOUND', { id }, `There is no user ${id}`)
      return { user }
    })

  scope.with(rateLimit({ max: mostAdded })).implement(api.users.add, (ctx) => {
    const user = database.addUser(ctx.body)
    if (!user) throw ctx.fail('EMAIL_TAKEN')
    return ctx.header('location', `/api/users/${user.id}`).json({ user }, 201)
  })
}
