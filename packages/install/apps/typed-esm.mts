import { createApp, HTTPError, type Context } from 'volant'

const app = createApp()

function greet(ctx: Context<{ name: string }>) {
  if (ctx.params.name === 'nobody') throw new HTTPError(404, 'Nobody is there')
  return { hello: ctx.params.name }
}

app.use(async (ctx, next) => {
  ctx.header('x-request-id', ctx.id)
  await next()
})
app.get('/hello/:name', greet)

// @ts-expect-error a pattern without the parameter that the handler reads
app.get('/bye/:surname', (ctx) => ctx.params.name)

const { url } = await app.listen(0)
console.log(`${app.adapterName} ${url}`)
