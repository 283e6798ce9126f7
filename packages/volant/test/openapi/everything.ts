/** An app with all there is to document, and the ids of operations in a document. */
import { type App, createApp, middleware, type OpenAPIDocument } from 'volant'
import * as z from 'zod'

export function idsOf({ paths }: OpenAPIDocument): Record<string, string> {
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { operationId }]) => [
        `${method.toUpperCase()} ${path}`,
        operationId,
      ]),
    ),
  )
}

/** An app that uses whatever a document can tell. */
export function everything(): App {
  const app = createApp({ signals: false })
  const User = z.object({
    id: z.uuid(),
    name: z.string().min(1),
    role: z.enum(['user', 'admin']).default('user'),
  })
  const NewUser = User.omit({ id: true }).meta({ title: 'New user' })
  const Comment = z.object({
    text: z.string(),
    get replies() {
      return z.array(Comment)
    },
  })
  const Money = z.object({ amount: z.number(), currency: z.string().length(3) }).meta({ id: 'Money' })
  const auth = middleware(
    {
      errors: { UNAUTHORIZED: { status: 401, description: 'No token, or none that is known' } },
      security: { bearer: { type: 'http', scheme: 'bearer' } },
    },
    (_, next) => next(),
  )
  app.get(
    '/users',
    {
      summary: 'All users',
      tags: ['users'],
      query: z.object({
        limit: z.coerce.number().int().max(100).default(20).describe('How many'),
        tag: z.array(z.string()).optional(),
      }),
      response: z.array(User),
    },
    () => [],
  )
  app.post(
    '/users',
    {
      operationId: 'createUser',
      description: 'Makes a user.',
      tags: ['users'],
      body: NewUser,
      response: { 201: User, 202: null },
      errors: {
        NAME_TAKEN: { status: 409, description: 'Somebody has it', data: z.object({ name: z.string() }) },
        CLOSED: { status: 409 },
      },
      examples: {
        body: { ann: { summary: 'A usual one', value: { name: 'Ann' } } },
        response: {
          201: { ann: { value: { id: '8f1b6c9e-52a5-4c8e-8a39-0d6f3a8f9a11', name: 'Ann', role: 'user' } } },
        },
      },
    },
    auth,
    (ctx) => ctx.reply(202),
  )
  app.get(
    '/users/:id',
    {
      params: z.object({ id: z.uuid() }),
      headers: z.object({ 'x-version': z.string().optional(), accept: z.string().optional() }),
      cookies: z.object({ theme: z.enum(['dark', 'light']).optional() }),
      response: { 200: User, 404: z.object({ gone: z.boolean() }) },
      errors: { USER_NOT_FOUND: { status: 404 } },
      deprecated: true,
    },
    auth,
    (ctx) => ctx.reply(404, { gone: true }),
  )
  app.get('/comments', { response: z.array(Comment) }, () => [])
  app.put(
    '/price',
    { body: z.object({ price: Money, name: z.string().optional() }).optional(), response: Money },
    () => ({
      amount: 1,
      currency: 'EUR',
    }),
  )
  app.get('/when', { response: z.object({ at: z.date() }) }, () => ({ at: new Date() }))
  app.get('/search', { query: z.record(z.string(), z.string()) }, () => 'ok')
  app.post('/note', { body: z.string() }, () => 'ok')
  app.post('/upload', { bodyMode: 'stream', response: { 204: null } }, () => undefined)
  app.get('/calendar/:year/:month?', () => 'ok')
  app.get('/badge/:value.svg', { response: z.string(), mediaType: 'image/svg+xml' }, () => '')
  app.get('/files/*path', () => 'ok')
  app.get('/style', { mediaType: 'text/css' }, () => '')
  const blog = createApp({ signals: false })
  blog.get('/posts/:slug', { params: z.object({ slug: z.string() }), tags: ['blog'] }, () => 'ok')
  app.mount('/blog', blog)
  return app
}
