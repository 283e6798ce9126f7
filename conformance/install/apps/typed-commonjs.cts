import { createApp, type Context } from 'volant'
import { z } from 'zod'

const app = createApp()

function greet(ctx: Context<{ params: { name: string } }>) {
  return { hello: ctx.params.name }
}
app.get('/hello/:name', greet)
// @ts-expect-error a pattern without the parameter that the handler reads
app.get('/bye/:surname', greet)

app.post('/names', { body: z.object({ name: z.string() }) }, (ctx) => {
  const name: string = ctx.body.name
  // @ts-expect-error the schema knows no such key
  void ctx.body.nothing
  return { name }
})

void app.listen(0).then(({ url }) => console.log(`${app.adapterName} ${url}`))
