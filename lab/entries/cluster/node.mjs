// node:http, as one worker of node:cluster.
import { createServer } from 'node:http'
import { answer, host, nonceIn, orphan, port, ready, worker } from './work.mjs'

let closing = false
const server = createServer((request, response) => {
  const { method, url } = request
  response.setHeader('x-worker', worker)
  // Else a client goes on with its connection, and the server is never closed.
  if (closing) response.setHeader('connection', 'close')
  if (url === '/json')
    return response.setHeader('content-type', 'application/json').end('{"message":"Hello World"}')
  if (url === '/orphan') return response.end(orphan())
  let body = ''
  request
    .setEncoding('latin1')
    .on('data', (text) => (body += text))
    .on('end', async () => response.end(await answer(method, nonceIn(method === 'POST' ? body : url))))
})

/** Refuses new connections, ends idle ones, and resolves when the last reply is sent. */
export function close() {
  closing = true
  return new Promise((resolve) => server.close(resolve))
}

await new Promise((resolve) => server.listen(port, host, resolve))
ready()
