// What the broken servers of the tests share: a server that counts its handlers' runs as an entry must.
import { createServer } from 'node:http'
import { ran } from '../../entries/ran.mjs'

export { ran }

/** The least an entry says: its port, once it listens. */
export function serve(answer) {
  const server = createServer(answer)
  server.listen(Number(process.env.PORT), '127.0.0.1', () => {
    console.log(`listening on ${server.address().port}`)
  })
}

export function json(response, status, value) {
  const body = JSON.stringify(value)
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** `hello` as it is right: GET /json, 404 for the rest. */
export function hello(request, response) {
  if (request.url !== '/json') return json(response, 404, {})
  ran()
  json(response, 200, { message: 'Hello World' })
}

/** `routes` as it is right; null for another path. */
export function record(url) {
  const [, resource, id] = /^\/api\/v1\/resource(\d)\/([^/]+)$/.exec(url) ?? []
  return resource === undefined ? null : { resource: Number(resource), id }
}

/** More than the 203 requests of a check, fewer than those of a window. */
export const afterTheCheck = 250
