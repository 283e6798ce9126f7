// Replies with codings and tags, right and wrong ones, beside an honest GET /json.
import { gzipSync } from 'node:zlib'
import { hello, ran, serve } from './serve.mjs'

const text = 'a text of some length'
const tag = '"a-tag"'

serve((request, response) => {
  const send = (headers, body) => {
    ran()
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(body)
  }
  if (request.url === '/gzip') send({ 'content-encoding': 'gzip' }, gzipSync(text))
  else if (request.url === '/no-gzip') send({ 'content-encoding': 'gzip' }, text)
  else if (request.url === '/plain') send({ etag: tag }, text)
  else if (request.url === '/tagged' && request.headers['if-none-match'] === tag) {
    ran()
    response.writeHead(304).end()
  } else if (request.url === '/tagged') send({ etag: tag }, text)
  else hello(request, response)
})
