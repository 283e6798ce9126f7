/** ArkType checks requests in the same way. Its schemas are written as types. */
import { type } from 'arktype'
import { createApp } from 'volant'

const Id = type({ id: 'string.integer.parse' })
const Rename = type({ name: '1 <= string <= 50', 'role?': "'admin' | 'user'" })
const User = type({ id: 'number', name: 'string', role: 'string' })

export const app = createApp()

app.patch('/users/:id', { params: Id, body: Rename, response: User }, (ctx) => {
  const { name, role = 'user' } = ctx.body
  return { id: ctx.params.id, name, role }
})

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
