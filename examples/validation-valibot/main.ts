/** Valibot checks requests in the same way. Any library that implements Standard Schema does. */
import { createApp } from 'volant'
import * as v from 'valibot'

const Id = v.object({ id: v.pipe(v.string(), v.digits(), v.transform(Number)) })
const Name = v.object({ name: v.pipe(v.string(), v.trim(), v.nonEmpty('A name is needed')) })

export const app = createApp()

app.patch('/users/:id', { params: Id, body: Name }, (ctx) => ({ id: ctx.params.id, name: ctx.body.name }))

export const { url } = await app.listen(Number(process.env.PORT ?? 3000))
console.log(`Listening on ${url}`)
