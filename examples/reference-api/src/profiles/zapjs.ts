/**
 * What the scripts of the ZapJS document ask for: eight static routes, five with an id, and the payloads of its
 * comparison with other frameworks. Where the document only has a path, the payload is ours.
 */
import { type AppOptions, type Context, createApp } from 'volant'

export function zapjs(options: AppOptions) {
  const app = createApp(options)

  app.get('/', () => 'Hello, World!')
  app.get('/health', () => ({ status: 'ok' }))
  app.get('/metrics', () => ({ uptime: process.uptime(), ...app.stats() }))
  app.get('/about', () => 'About this server')
  app.get('/contact', () => 'Contact us')

  app.group('/api', (api) => {
    api.get('/status', () => ({ status: 'running', uptime: process.uptime() }))
    api.get('/version', () => ({ node: process.version }))
    api.get('/config', () => ({ environment: process.env.NODE_ENV ?? 'development' }))

    api.get('/users', () => ({
      users: Array.from({ length: 10 }, (_, index) => user(index + 1)),
      total: 10,
      page: 1,
    }))
    api.post('/users', (ctx) => ({
      message: 'User created',
      user: ctx.body,
      id: Math.floor(Math.random() * 10_000),
    }))
    api.get('/users/:id', (ctx) => {
      const { id } = ctx.params
      return { id, name: 'John Doe', email: `user${id}@example.com`, role: 'user' }
    })
    api.get('/users/:userId/posts/:postId', (ctx) => ({
      userId: ctx.params.userId,
      postId: ctx.params.postId,
      title: 'Sample Post',
      content: 'Lorem ipsum dolor sit amet',
    }))

    api.get('/posts/:id', record('post'))
    api.get('/products/:id', record('product'))
    api.get('/orders/:id', record('order'))
    api.get('/comments/:id', record('comment'))
  })

  return app
}

function user(id: number) {
  return { id, name: `User ${id}`, email: `user${id}@example.com` }
}

function record(kind: string) {
  return (ctx: Context<{ params: { id: string } }>) => ({ kind, id: ctx.params.id })
}
