import { createApp, openapi } from 'volant'

const app = createApp()
app.register(openapi, { info: { title: 'Hello', version: '1.0.0' } })
app.get('/hello/:name', (ctx) => ({ hello: ctx.params.name }))

const { url } = await app.listen(0)
console.log(`${app.adapterName} ${url}`)
