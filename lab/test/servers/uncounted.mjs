// Says nothing of how often its handlers ran.
import { createServer } from 'node:http'

process.on('SIGUSR2', () => undefined)
const server = createServer((request, response) => {
  const right = request.url === '/json'
  response.writeHead(right ? 200 : 404, { 'Content-Type': 'application/json' })
  response.end(right ? '{"message":"Hello World"}' : '{}')
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
