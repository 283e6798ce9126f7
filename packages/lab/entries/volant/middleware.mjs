import { createApp } from 'volant'

const prefix = `${Math.random().toString(36).slice(2, 10)}-`
let last = 0
const requestId = () => (ctx, next) => {
  ctx.header('x-request-id', prefix + (++last).toString(36))
  return next()
}
const cors = () => (ctx, next) => {
  ctx.header('access-control-allow-origin', '*')
  return next()
}

const greeting = (ctx, next) => {
  ctx.state.message = 'Hello World'
  return next()
}

const app = createApp({ adapter: { type: process.env.ADAPTER } })
app.get('/none', () => ({ message: 'Hello World' }))
app.get('/three', requestId(), cors(), greeting, (ctx) => ({ message: ctx.state.message }))
const { port } = await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${port}`)
