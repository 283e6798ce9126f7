/** The API that the cases write a file of; they hold the file's types against its own. */
import * as z from 'zod'
import { createApp, middleware } from '../../../src/index.ts'

const User = z
  .object({
    id: z.number().int().describe('Unique, and */ never used again'),
    name: z.string().min(1),
    role: z.enum(['admin', 'user']),
    tags: z.array(z.string()),
    address: z
      .object({ city: z.string(), 'post-code': z.string().nullable().default(null) })
      .meta({ title: 'Address' })
      .optional(),
    either: z.union([z.string(), z.object({ a: z.literal(1) })]),
    pair: z.tuple([z.string(), z.number()]),
    scores: z.record(z.string(), z.number()),
  })
  .meta({ title: 'User' })

interface Node {
  name: string
  children: Node[]
}
const Node: z.ZodType<Node, Node> = z.object({
  name: z.string(),
  get children() {
    return z.array(Node)
  },
})

const auth = middleware<{ user: string }>()(
  { errors: { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } } },
  (_, next) => next(),
)

export const app = createApp({ signals: false })
const never = (): never => {
  throw new Error('never called')
}

export const api = {
  users: {
    get: app.with(auth).get(
      '/users/:id',
      {
        summary: 'One user',
        description: 'Of all */ there are.',
        params: z.object({ id: z.string() }),
        query: z.object({ page: z.number().default(1), sort: z.enum(['up', 'down']).optional() }),
        response: User,
        errors: {
          USER_NOT_FOUND: { status: 404, data: z.object({ id: z.number() }) },
          GONE: { status: 410 },
        },
      },
      never,
    ),
    add: app.post(
      '/users',
      {
        deprecated: true,
        headers: z.object({ 'x-key': z.string() }),
        cookies: z.object({ session: z.string().optional() }),
        body: User,
        response: { 201: User, 204: null, 409: z.object({ taken: z.string() }) },
      },
      never,
    ),
    admin: { remove: app.delete('/users/:id', () => {}) },
  },
  rooms: {
    chat: app.ws('/rooms/:room', {
      summary: 'One room',
      params: z.object({ room: z.string() }),
      query: z.object({ since: z.number().optional() }),
      in: z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('text'), text: z.string().default('') }),
        z.object({ kind: z.literal('leave') }),
      ]),
      out: z.object({ text: z.string(), user: User }),
    }),
    raw: app.ws('/raw/*', {}),
  },
  tree: app.put('/tree', { body: Node, response: Node }, never),
  maybe: app.post('/maybe', { body: z.object({ a: z.string() }).optional() }, () => {}),
  page: app.get('/pages/*', { mediaType: 'text/html', response: z.string() }, never),
  image: app.get('/image/:name?', { mediaType: 'image/png' }, (ctx) => ctx.bytes(new Uint8Array(0))),
  any: app.post('/any', { response: z.unknown() }, never),
  json: app.get(
    '/json',
    {
      response: {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'integer' } } },
        required: ['a', 'b'],
        additionalProperties: false,
      },
    },
    never,
  ),
}
app.expose(api)
