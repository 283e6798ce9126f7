// Volant on its own engine; idle connections stay for 10 minutes.
import { createApp } from 'volant'
import '../ran.mjs'
import { secrets } from '../transport.mjs'

const app = createApp({
  adapter: { type: process.env.ADAPTER },
  limits: { keepAliveTimeout: 600_000, maxConnections: Number(process.env.CONNECTIONS) + 100 },
})
app.get('/json', async (ctx) => {
  ctx.json({ message: 'Hello World' })
})
const tls = secrets()
const { port } = await app.listen({
  port: Number(process.env.PORT),
  host: '127.0.0.1',
  ...(tls && { tls }),
})
console.log(`listening on ${port}`)
