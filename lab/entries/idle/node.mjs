// node:http without a framework; idle connections stay for 10 minutes.
import * as http from 'node:http'
import * as https from 'node:https'
import '../ran.mjs'
import { isSecure, secrets } from '../transport.mjs'

const { createServer } = isSecure ? https : http
const server = createServer({ ...secrets(), keepAliveTimeout: 600_000 }, (request, response) => {
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
