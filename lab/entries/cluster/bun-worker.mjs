// Bun.serve with `reusePort`, as Bun's guide "Start a cluster of HTTP servers" has it.
import { answer, host, nonceIn, orphan, port, ready, worker } from './work.mjs'

const headers = { 'x-worker': worker }
const server = Bun.serve({
  hostname: host,
  port,
  reusePort: true,
  routes: {
    '/json': () => Response.json({ message: 'Hello World' }, { headers }),
    '/orphan': () => new Response(orphan(), { headers }),
    '/:nonce': async (request) => {
      const { method, params } = request
      const nonce = nonceIn(method === 'POST' ? await request.text() : params.nonce)
      return new Response(await answer(method, nonce), { headers })
    },
  },
})
// Resolves when what is in flight is answered.
process.on('SIGTERM', () => void server.stop().then(() => process.exit(0)))
process.on('SIGINT', () => {})
ready()
process.send?.('ready')
