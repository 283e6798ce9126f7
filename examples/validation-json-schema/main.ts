/** TypeBox or you write plain JSON Schema. Text is converted, and defaults are filled in. */
import { Type } from 'typebox'
import { createApp } from 'volant'

const User = Type.Object({
  name: Type.String({ minLength: 1 }),
  mail: Type.Optional(Type.String({ format: 'email' })),
  tags: Type.Array(Type.String(), { uniqueItems: true, maxItems: 10, default: [] }),
})

export const app = createApp()

app.post('/users', { body: User }, (ctx) => ctx.json({ id: 1, ...ctx.body }, 201))

app.get(
  '/users/:id',
  {
    params: { type: 'object', properties: { id: { type: 'integer', minimum: 1 } }, required: ['id'] },
    query: {
      type: 'object',
      properties: {
        limit: { type: 'integer', maximum: 100, default: 20 },
        field: { type: 'array', items: { enum: ['name', 'mail', 'tags'] } },
      },
      additionalProperties: false,
    },
  },
  (ctx) => ({ id: ctx.params.id + 1, limit: ctx.query.limit, fields: ctx.query.field ?? [] }),
)

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
