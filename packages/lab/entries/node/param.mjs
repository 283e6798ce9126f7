// node:http without a framework; the router is what one parameter needs.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    if (request.url === '/static') return send(response, { hi: 'Ada' })
    const name = /^\/hi\/([^/?]+)$/.exec(request.url)?.[1]
    if (name !== undefined) return send(response, { hi: decodeURIComponent(name) })
  }
  response.writeHead(404).end()
})

function send(response, value) {
  const body = JSON.stringify(value)
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}

server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
