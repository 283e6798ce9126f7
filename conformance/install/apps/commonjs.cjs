const { createApp } = require('volant')

const app = createApp()
app.get('/hello/:name', (ctx) => ({ hello: ctx.params.name }))

app.listen(0).then(({ url }) => console.log(`${app.adapterName} ${url}`))
