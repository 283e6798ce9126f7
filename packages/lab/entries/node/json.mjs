// node:http without a framework.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  if (request.method !== 'GET' || request.url !== '/json') {
    response.writeHead(404).end()
    return
  }
  const body = JSON.stringify({ message: 'Hello World' })
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
