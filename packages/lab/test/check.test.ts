import assert from 'node:assert/strict'
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { checkReplies } from '../src/check.ts'
import { entryOf } from '../src/roster.ts'
import { scenarioOf } from '../src/scenario.ts'

const body = '{"message":"Hello World"}'
const json = { 'Content-Type': 'application/json' }

async function check(name: string, listener: RequestListener, scenario = 'json'): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    return await checkReplies(entryOf(name), scenarioOf(scenario), (server.address() as AddressInfo).port, 10)
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

test('a parameter must come from the path', async () => {
  const fixed: RequestListener = (request, response) => {
    if (request.url?.startsWith('/hi/')) response.writeHead(200, json).end('{"hi":"Ada"}')
    else response.writeHead(404).end()
  }
  await assert.rejects(check('node', fixed, 'param'), /the body is/)
})

test('middleware must do its work, anew for each reply', async () => {
  const served =
    (headers: () => Record<string, string>): RequestListener =>
    (request, response) => {
      if (request.url === '/three') response.writeHead(200, { ...json, ...headers() }).end(body)
      else response.writeHead(404).end()
    }
  let last = 0
  const cors = { 'Access-Control-Allow-Origin': '*' }
  await check(
    'node',
    served(() => ({ ...cors, 'X-Request-Id': String(++last) })),
    'middleware',
  )
  const cases: [RegExp, () => Record<string, string>][] = [
    [/x-request-id is missing/, () => cors],
    [/access-control-allow-origin is missing/, () => ({ 'X-Request-Id': String(++last) })],
    [/two replies have the same x-request-id/, () => ({ ...cors, 'X-Request-Id': '1' })],
  ]
  for (const [reason, headers] of cases) {
    await assert.rejects(check('node', served(headers), 'middleware'), reason)
  }
})

test('a user is given only to who may see it, and only if there is one', async () => {
  const user = (id: number) => ({
    id,
    name: `User ${id}`,
    email: `user${id}@example.com`,
    age: 18 + (id % 60),
  })
  const served =
    (statusOf: (id: string, token: string | undefined) => number): RequestListener =>
    (request, response) => {
      const id = /^\/api\/users\/([^/]+)$/.exec(request.url ?? '')?.[1]
      const status = id === undefined ? 404 : statusOf(id, request.headers.authorization)
      const reply = status === 200 ? { user: user(Number(id)) } : {}
      response.writeHead(status, json).end(JSON.stringify(reply))
    }
  const right = (id: string, token: string | undefined): number => {
    if (token !== 'Bearer valid-token') return 401
    if (!/^\d+$/.test(id)) return 400
    return Number(id) <= 1000 ? 200 : 404
  }
  await check('node', served(right), 'users')
  const careless: [RegExp, typeof right][] = [
    [/GET \/api\/users\/123 is answered with 200/, (id) => right(id, 'Bearer valid-token')],
    [/GET \/api\/users\/12a is answered with 404/, (id, token) => right(id === '12a' ? '1001' : id, token)],
    [/GET \/api\/users\/1001 is answered with 200/, (id, token) => right(id === '1001' ? '1' : id, token)],
  ]
  for (const [reason, statusOf] of careless) {
    await assert.rejects(check('node', served(statusOf), 'users'), reason)
  }
})
