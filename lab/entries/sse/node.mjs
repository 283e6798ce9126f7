// node:http by hand.
import { createServer } from 'node:http'
import { interval, quote, subscribe } from './ticks.mjs'

const text = (id) => `id: ${id}\nevent: quote\ndata: ${JSON.stringify(quote(id))}\n\n`

const server = createServer((request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()
  if (request.url === '/broadcast') {
    response.on(
      'close',
      subscribe((id) => response.write(text(id))),
    )
    return
  }
  let id = 0
  const timer = setInterval(() => response.write(text(++id)), interval)
  response.on('close', () => clearInterval(timer))
})
server.listen(Number(process.env.PORT), '127.0.0.1', () =>
  console.log(`listening on ${server.address().port}`),
)
