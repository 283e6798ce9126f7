import { createApp } from 'volant'

const app = createApp()
app.get('/hello/:name', (ctx) => ({ hello: ctx.params.name }))

const { url } = await app.listen(0)
console.log(`${app.adapterName} ${url}`)
