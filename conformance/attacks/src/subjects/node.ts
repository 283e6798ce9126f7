/** node:http2 with its own defaults, through the compatibility API. */
import { readFileSync } from 'node:fs'
import {
  createSecureServer,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { collectInNode, entered, large, message, obey } from './control.ts'

const { CERT, KEY } = process.env

function answer(request: Http2ServerRequest, response: Http2ServerResponse): void {
  entered()
  const { method, url } = request
  // A stream that was reset meanwhile emits an error of its own.
  request.on('error', () => undefined)
  response.on('error', () => undefined)
  if (url === '/large') return void response.end(large)
  if (url !== '/' && !url.startsWith('/?')) return void response.writeHead(404).end()
  const json = JSON.stringify(message)
  if (method !== 'POST') return void response.writeHead(200, { 'content-type': 'application/json' }).end(json)
  request.resume()
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(json))
}

const server =
  CERT !== undefined && KEY !== undefined
    ? createSecureServer({ cert: readFileSync(CERT), key: readFileSync(KEY), allowHTTP1: true }, answer)
    : createServer(answer)
server.on('sessionError', () => undefined)
server.listen(0, '127.0.0.1', () => obey((server.address() as AddressInfo).port, collectInNode))
