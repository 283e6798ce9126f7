import { createApp, type Context } from 'volant'

const app = createApp()

function greet(ctx: Context<{ name: string }>) {
  return { hello: ctx.params.name }
}

app.get('/hello/:name', greet)

// @ts-expect-error a pattern without the parameter that the handler reads
app.get('/bye/:surname', (ctx) => ctx.params.name)

void app.listen(0).then(({ url }) => console.log(`${app.adapterName} ${url}`))
