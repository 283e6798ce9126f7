/**
 * The playground that the VeloxTS document measures: procedures over REST and tRPC, users in memory, memory of the
 * process. A fixed bearer token stands for its JSON Web Tokens.
 */
import { type AppOptions, createApp } from 'volant'
import { bearer } from 'volant/auth'
import { procedure, rest, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { z } from 'zod'

const Id = z.object({ id: z.uuid() })
const NewUser = z.object({ name: z.string().min(1).max(100), email: z.email() })
const User = NewUser.extend({ id: z.string(), createdAt: z.iso.datetime(), updatedAt: z.iso.datetime() })
const Page = z.object({
  page: z.number().int().min(1).default(1),
  limit: z.number().int().min(1).max(100).default(10),
})

export function veloxts(options: AppOptions, { token }: { token: string }) {
  const app = createApp(options)
  const procedures = playground(token)
  app.register(rest(procedures, { prefix: '/api' }))
  app.register(trpc(procedures))
  app.get('/debug/memory', () => {
    const usage = process.memoryUsage()
    return {
      ...usage,
      heapUsedMB: megabytes(usage.heapUsed),
      heapTotalMB: megabytes(usage.heapTotal),
      rssMB: megabytes(usage.rss),
    }
  })
  return app
}

/** What it does, however it is called. */
export function playground(token: string) {
  type User = z.infer<typeof User>
  const users = new Map(
    ['Alice Johnson', 'Bob Smith', 'Charlie Brown'].map(seed).map((user) => [user.id, user]),
  )
  const save = (user: User): User => {
    users.set(user.id, user)
    return user
  }

  const known = procedure().errors({ NO_USER: { status: 404, description: 'There is no such user' } })
  const trusted = known.use(bearer({ token }))

  const changeUser = trusted
    .input(Id.extend(NewUser.partial().shape))
    .output(User)
    .mutation(({ input, ctx }) => {
      const user = users.get(input.id)
      if (!user) throw ctx.fail('NO_USER')
      const { name = user.name, email = user.email } = input
      return save({ ...user, name, email, updatedAt: new Date().toISOString() })
    })

  return router({
    health: router({
      getHealth: procedure()
        .output(
          z.object({
            status: z.literal('ok'),
            version: z.string(),
            timestamp: z.iso.datetime(),
            uptime: z.number(),
          }),
        )
        .query(() => ({
          status: 'ok',
          version: process.version,
          timestamp: new Date().toISOString(),
          uptime: process.uptime(),
        })),
    }),
    users: router({
      listUsers: procedure()
        .input(Page)
        .output(z.object({ data: z.array(User), meta: Page.extend({ total: z.number().int() }) }))
        .query(({ input: { page, limit } }) => {
          const data = [...users.values()].slice((page - 1) * limit, page * limit)
          return { data, meta: { page, limit, total: users.size } }
        }),
      searchUsers: procedure()
        .rest({ path: '/users/search' })
        .input(z.object({ q: z.string().min(1) }))
        .output(z.array(User))
        .query(({ input }) => {
          const wanted = input.q.toLowerCase()
          return [...users.values()].filter(({ name, email }) =>
            `${name}\n${email}`.toLowerCase().includes(wanted),
          )
        }),
      getUser: known
        .input(Id)
        .output(User)
        .query(({ input, ctx }) => {
          const user = users.get(input.id)
          if (!user) throw ctx.fail('NO_USER')
          return user
        }),
      createUser: trusted
        .input(NewUser)
        .output(User)
        .mutation(({ input }) => {
          const now = new Date().toISOString()
          return save({ id: crypto.randomUUID(), ...input, createdAt: now, updatedAt: now })
        }),
      updateUser: changeUser,
      patchUser: changeUser,
      deleteUser: trusted
        .input(Id)
        .output(z.object({ success: z.boolean() }))
        .mutation(({ input, ctx }) => {
          if (!users.delete(input.id)) throw ctx.fail('NO_USER')
          return { success: true }
        }),
    }),
  })
}

function seed(name: string, index: number): z.infer<typeof User> {
  const at = '2024-01-15T10:30:00.000Z'
  const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`
  return { id: `550e8400-e29b-41d4-a716-44665544000${index + 1}`, name, email, createdAt: at, updatedAt: at }
}

function megabytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 100) / 100
}
