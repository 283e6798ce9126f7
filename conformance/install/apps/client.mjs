import { createApp } from 'volant'
import { createClient } from 'volant/client'

export const app = createApp()
export const api = {
  hello: app.get('/hello/:name', { errors: { NOBODY: { status: 404 } } }, (ctx) => {
    if (ctx.params.name === 'nobody') throw ctx.fail('NOBODY')
    return { hello: ctx.params.name }
  }),
}
app.expose(api)

const client = createClient('http://unused.test', { fetch: app.fetch })
for (const name of ['Ada', 'nobody']) {
  const reply = await client.hello({ params: { name } })
  console.log(reply.status, reply.ok ? reply.data.hello : reply.code)
}
