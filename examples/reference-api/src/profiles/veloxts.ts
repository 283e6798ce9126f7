/**
 * The playground that the VeloxTS document measures, its REST half: health, users in memory, memory of the process.
 * `/trpc/*` is not there yet, and neither are its JSON Web Tokens: a fixed bearer token stands for them.
 */
import { type AppOptions, createApp, HTTPError } from 'volant'
import { z } from 'zod'
import { bearer } from '../bearer.ts'

interface User {
  id: string
  name: string
  email: string
  createdAt: string
  updatedAt: string
}

const Id = z.object({ id: z.uuid() })
const NewUser = z.object({ name: z.string().min(1).max(100), email: z.email() })
const Page = z.object({
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(10),
})

export function veloxts(options: AppOptions, { token }: { token: string }) {
  const app = createApp(options)
  const users = new Map(
    ['Alice Johnson', 'Bob Smith', 'Charlie Brown'].map(seed).map((user) => [user.id, user]),
  )

  function find(id: string): User {
    const user = users.get(id)
    if (!user) throw new HTTPError(404, `There is no user ${id}`)
    return user
  }

  function save(user: User): User {
    users.set(user.id, user)
    return user
  }

  app.group('/api', (api) => {
    api.get('/health', () => ({
      status: 'ok',
      version: process.version,
      timestamp: new Date().toISOString(),
      uptime: process.uptime(),
    }))

    api.get('/users', { query: Page }, (ctx) => {
      const { page, limit } = ctx.query
      const data = [...users.values()].slice((page - 1) * limit, page * limit)
      return { data, meta: { page, limit, total: users.size } }
    })
    api.get('/users/search', { query: z.object({ q: z.string().min(1) }) }, (ctx) => {
      const wanted = ctx.query.q.toLowerCase()
      return [...users.values()].filter(({ name, email }) =>
        `${name}\n${email}`.toLowerCase().includes(wanted),
      )
    })
    api.get('/users/:id', { params: Id }, (ctx) => find(ctx.params.id))

    const trusted = api.with(bearer(token))
    trusted.post('/users', { body: NewUser }, (ctx) => {
      const now = new Date().toISOString()
      ctx.json(save({ id: crypto.randomUUID(), ...ctx.body, createdAt: now, updatedAt: now }), 201)
    })
    trusted.on(['PUT', 'PATCH'], '/users/:id', { params: Id, body: NewUser.partial() }, (ctx) => {
      const user = find(ctx.params.id)
      const { name = user.name, email = user.email } = ctx.body
      return save({ ...user, name, email, updatedAt: new Date().toISOString() })
    })
    trusted.delete('/users/:id', { params: Id }, (ctx) => {
      users.delete(find(ctx.params.id).id)
      return { success: true }
    })
  })

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

function seed(name: string, index: number): User {
  const at = '2024-01-15T10:30:00.000Z'
  const email = `${name.split(' ')[0]?.toLowerCase()}@example.com`
  return { id: `550e8400-e29b-41d4-a716-44665544000${index + 1}`, name, email, createdAt: at, updatedAt: at }
}

function megabytes(bytes: number): number {
  return Math.round((bytes / 2 ** 20) * 100) / 100
}
