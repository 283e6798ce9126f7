// Run by Bun; 255 s is the longest idle timeout it takes.
import '../ran.mjs'
import { secrets } from '../transport.mjs'

const server = Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  idleTimeout: 255,
  ...(secrets() && { tls: secrets() }),
  routes: { '/json': { GET: () => Response.json({ message: 'Hello World' }) } },
  fetch: () => new Response(null, { status: 404 }),
})
console.log(`listening on ${server.port}`)
