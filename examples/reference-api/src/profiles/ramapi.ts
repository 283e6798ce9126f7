/**
 * The samples of the RamAPI document in one app, each as it stands there: its simple reply, its middleware stack, its
 * reads and writes in SQLite, its custom endpoint. Only the name of the package and the path of the database differ.
 */
import { type AppOptions, type Context, cors, createApp, logger, validate } from 'volant'
import { z } from 'zod'
import { openSqlite } from '../sqlite.ts'

export function ramapi(options: AppOptions, { database }: { database: string }) {
  const { db } = openSqlite(database)
  const app = createApp(options)
  app.onClose(() => db.close())

  app.get('/json', async (ctx) => {
    ctx.json({ message: 'Hello World' })
  })

  // Middleware stack: for this route alone, since the others are measured without it.
  app.get(
    '/api/users',
    logger(),
    cors(),
    async (ctx, next) => {
      ctx.state.requestId = Math.random().toString(36)
      await next()
    },
    async (ctx) => {
      ctx.json({
        requestId: ctx.state.requestId,
        users: [
          { id: 1, name: 'Alice' },
          { id: 2, name: 'Bob' },
        ],
      })
    },
  )

  // Auth middleware
  const authenticate = async (ctx: Context, next: () => Promise<void>) => {
    const token = ctx.headers.authorization
    if (!token || token !== 'Bearer valid-token') {
      ctx.json({ error: 'Unauthorized' }, 401)
      return
    }
    await next()
  }

  // Route with validation
  app.get(
    '/api/users/:id',
    authenticate,
    validate({
      params: z.object({
        id: z.string().regex(/^\d+$/),
      }),
    }),
    async (ctx) => {
      const userId = parseInt(ctx.params.id)
      const user = db.prepare('SELECT * FROM users WHERE id = ?').get(userId)

      if (!user) {
        ctx.json({ error: 'User not found' }, 404)
        return
      }

      ctx.json({ user })
    },
  )

  const userSchema = z.object({
    name: z.string().min(2).max(100),
    email: z.string().email(),
    age: z.number().int().min(18).max(120),
  })

  app.post('/api/users', validate({ body: userSchema }), async (ctx) => {
    const { name, email, age } = ctx.body

    // Check if email exists
    const existing = db.prepare('SELECT id FROM users WHERE email = ?').get(email)

    if (existing) {
      ctx.json({ error: 'Email already exists' }, 409)
      return
    }

    // Insert user
    const result = db.prepare('INSERT INTO users (name, email, age) VALUES (?, ?, ?)').run(name, email, age)

    // Fetch created user
    const user = db.prepare('SELECT * FROM users WHERE id = ?').get(result.lastInsertRowid)

    ctx.json({ user }, 201)
  })

  app.get('/custom', async (ctx) => {
    // Your test endpoint
    ctx.json({ result: 'data' })
  })

  return app
}
