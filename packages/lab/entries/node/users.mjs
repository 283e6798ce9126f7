// node:http without a framework.
import { createServer } from 'node:http'
import { bearer, findUser, params } from '../users-service.mjs'

const prefix = '/api/users/'

const server = createServer((request, response) => {
  const { method, url, headers } = request
  if (method !== 'GET' || !url.startsWith(prefix)) return send(response, 404, { error: 'Not found' })
  if (headers.authorization !== bearer) return send(response, 401, { error: 'Unauthorized' })
  const { success, data } = params.safeParse({ id: url.slice(prefix.length) })
  if (!success) return send(response, 400, { error: 'id must be a whole number' })
  const user = findUser.get(Number(data.id))
  if (!user) return send(response, 404, { error: 'User not found' })
  send(response, 200, { user })
})

function send(response, status, value) {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}

server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
