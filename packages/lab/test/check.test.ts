import assert from 'node:assert/strict'
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { checkReplies } from '../src/check.ts'
import { entryOf } from '../src/roster.ts'

const body = '{"message":"Hello World"}'
const json = { 'Content-Type': 'application/json' }

async function check(name: string, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    return await checkReplies(entryOf(name), (server.address() as AddressInfo).port, 10)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const honest: RequestListener = (request, response) => {
  if (request.url === '/json') response.writeHead(200, json).end(body)
  else response.writeHead(404).end()
}

test('an honest server passes', async () => {
  const bytes = await check('node', honest)
  assert.ok(bytes > body.length && bytes < 300, String(bytes))
})

test('other work is refused and named', async () => {
  const cases: [string, RequestListener][] = [
    ['answered with 500', (_, response) => response.writeHead(500, json).end(body)],
    ['content type', (_, response) => response.writeHead(200, { 'Content-Type': 'text/plain' }).end(body)],
    [
      'content type',
      (_, response) => response.writeHead(200, { 'Content-Type': 'application/jsonx' }).end(body),
    ],
    ['the body is', (_, response) => response.writeHead(200, json).end(`${body}\n`)],
    ['unknown path', (_, response) => response.writeHead(200, json).end(body)],
  ]
  for (const [reason, listener] of cases) {
    await assert.rejects(check('node', listener), {
      name: 'Error',
      message: new RegExp(`^node does other work: .*${reason}`),
    })
  }
})

test('the limit may answer any path', async () => {
  await check('limit', (_, response) => response.writeHead(200, json).end(body))
})

test('a batch must get as many replies as it has requests', async () => {
  let served = 0
  const oneOnly: RequestListener = (request, response) => {
    served += 1
    if (served > 2) response.shouldKeepAlive = false
    honest(request, response)
  }
  await assert.rejects(check('node', oneOnly), /10 pipelined requests got 1 replies/)
})
