import { cors, createApp, requestId } from 'volant'

const greeting = (ctx, next) => {
  ctx.state.message = 'Hello World'
  return next()
}

const app = createApp({ adapter: { type: process.env.ADAPTER } })
app.get('/none', () => ({ message: 'Hello World' }))
app.get('/three', requestId(), cors(), greeting, (ctx) => ({ message: ctx.state.message }))
const { port } = await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${port}`)
