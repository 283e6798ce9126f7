import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { reference } from '../src/profiles/reference.ts'

const folder = mkdtempSync(join(tmpdir(), 'reference-api-'))
const app = reference(
  { signals: false },
  {
    database: join(folder, 'new/test.db'),
    token: 'secret',
    publicFigures: true,
    publicDocs: true,
    // Its guard against load does not refuse requests on a machine that is busy with other tests.
    maxEventLoopDelay: 9_999,
  },
)
const authorization = 'Bearer secret'
let url = ''

before(async () => {
  ;({ url } = await app.listen({ port: 0, host: '127.0.0.1' }))
})

after(async () => {
  await app.close({ drainIdle: 0 })
  rmSync(folder, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = {}) => fetch(url + path, { headers })

const post = (body: unknown) =>
  fetch(`${url}/api/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

async function problem(reply: Response, status: number) {
  assert.equal(reply.status, status)
  assert.match(reply.headers.get('content-type') ?? '', /^application\/problem\+json/)
  const body = (await reply.json()) as {
    status: number
    detail: string
    code?: string
    errors?: { in: string; pointer: string; detail: string }[]
  }
  assert.equal(body.status, status)
  return body
}

test('GET /json', async () => {
  const reply = await get('/json')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(await reply.text(), '{"message":"Hello World"}')
})

test('GET /big-json has 200 records', async () => {
  const records = (await (await get('/big-json')).json()) as unknown[]
  assert.equal(records.length, 200)
  assert.deepEqual(records[199], { id: 199, title: 'Software engineer', employer: 'acme corp' })
})

test('GET /health, /ready and /api/health', async () => {
  assert.deepEqual(await (await get('/health')).json(), { status: 'ok' })
  const ready = await get('/ready')
  assert.equal(ready.status, 200)
  assert.deepEqual(await ready.json(), { status: 'ready', checks: { database: 'ok' } })
  const details = (await (await get('/api/health')).json()) as {
    uptime: number
    memory: NodeJS.MemoryUsage
    eventLoopLag: Record<string, number>
  }
  assert.ok(details.uptime > 0 && details.memory.rss > 0)
  assert.deepEqual(Object.keys(details.eventLoopLag), ['p50', 'p99', 'max'])
})

test('a database that cannot be read is not ready', async () => {
  const reports: unknown[] = []
  const file = join(folder, 'closed.db')
  const broken = reference({ report: (error) => void reports.push(error) }, { database: file, token: 't' })
  await broken.close({ drainIdle: 0 })
  assert.equal(broken.closing, true)
  const reply = await broken.inject('/ready')
  assert.equal(reply.status, 503)
})

test('GET /metrics and /metrics.json count what was asked', async () => {
  for (let count = 0; count < 3; count++) await (await get('/json')).text()
  const reply = await get('/metrics')
  assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const text = await reply.text()
  assert.match(
    text,
    /^http_request_duration_seconds_count\{method="GET",route="\/json",status="2xx"\} [3-9]$/m,
  )
  const figures = (await (await get('/metrics.json')).json()) as {
    server: { requests: number }
    recent: { p50: number; p99: number }
    memory: { rss: number }
  }
  assert.ok(figures.server.requests > 3 && figures.recent.p99 >= figures.recent.p50 && figures.memory.rss > 0)
})

test('GET /debug/memory', async () => {
  const memory = (await (await get('/debug/memory')).json()) as NodeJS.MemoryUsage
  for (const key of ['rss', 'heapTotal', 'heapUsed', 'external', 'arrayBuffers'] as const)
    assert.ok(memory[key] > 0, key)
})

test('GET /badge/:label/:value.svg', async () => {
  const reply = await get('/badge/build%20%26/%3Cb%3E.svg')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
  const svg = await reply.text()
  assert.match(svg, />build &amp;</)
  assert.match(svg, />&lt;b&gt;</)
  assert.equal((await get('/badge/build/passing')).status, 404)
})

test('GET / says what is running and may load nothing but its own style and script', async () => {
  const reply = await get('/')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = reply.headers.get('content-security-policy') ?? ''
  const html = await reply.text()
  for (const [directive, element, type] of [
    ["style-src 'self'", '<link rel="stylesheet" href="/page/style.css">', 'text/css; charset=utf-8'],
    ["script-src 'self'", '<script src="/page/live.js"></script>', 'text/javascript; charset=utf-8'],
  ] as const) {
    assert.ok(policy.includes(directive) && html.includes(element), element)
    const file = await get(/"(\/.+)"/.exec(element)?.[1] as string)
    assert.equal(file.headers.get('content-type'), type)
  }
  assert.ok(policy.startsWith("default-src 'none'") && policy.includes("connect-src 'self'"))
  for (const text of [app.adapterName, process.version, new URL(url).host])
    assert.ok(html.includes(text), text)
  assert.ok(!html.includes('secret'))
  assert.doesNotMatch(html, /<script>|<style|\b(?:style|on\w+)=/)
})

test('GET /live has the figures of now, and loads nothing but its own styles and scripts', async () => {
  const reply = await get('/live')
  assert.ok(reply.headers.get('content-security-policy')?.includes("connect-src 'self'"))
  const html = await reply.text()
  assert.match(html, /<strong id="rss">\d+ MB<\/strong>/)
  assert.match(html, /<noscript><meta http-equiv="refresh" content="5"><\/noscript>/)
  assert.doesNotMatch(html, /<script>|<style|\b(?:style|on\w+)=/)
  for (const path of ['/page/style.css', '/page/dashboard.css', '/page/feed.js', '/page/dashboard.js']) {
    assert.ok(html.includes(`"${path}"`), path)
    assert.equal((await get(path)).status, 200, path)
  }
})

test('GET /live/events has the figures of each second, and those that a page has missed', async () => {
  const read = async (count: number, headers: Record<string, string> = {}) => {
    const client = new AbortController()
    const reply = await fetch(`${url}/live/events`, { headers, signal: client.signal })
    assert.equal(reply.headers.get('content-type'), 'text/event-stream')
    let text = ''
    for await (const part of reply.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(part).toString()
      if (text.split('event: figures').length > count && text.endsWith('\n\n')) break
    }
    client.abort()
    return [...text.matchAll(/id: (\d+)\nevent: figures\ndata: (.+)\n/g)].map(([, id, data]) => ({
      id: Number(id),
      data: JSON.parse(data as string) as { rate: number | null; streams: number; memory: { rss: number } },
    }))
  }
  const stays = await fetch(`${url}/live/events`)
  const [first, second] = await read(2)
  assert.ok(first !== undefined && second !== undefined && second.id > first.id)
  assert.ok(second.data.rate !== null && second.data.streams >= 1 && second.data.memory.rss > 2 ** 20)
  // A page that comes back gets the seconds after its last event, while somebody else has looked on.
  const [missed] = await read(1, { 'last-event-id': String(first.id) })
  assert.equal(missed?.id, second.id)
  await stays.body?.cancel()
})

test('what is large is compressed for those who accept it', async () => {
  const identity = await get('/big-json', { 'accept-encoding': 'identity' })
  assert.equal(identity.headers.get('content-encoding'), null)
  const gzip = await get('/big-json', { 'accept-encoding': 'gzip' })
  assert.equal(gzip.headers.get('content-encoding'), 'gzip')
  assert.ok(Number(gzip.headers.get('content-length')) < Number(identity.headers.get('content-length')) / 5)
  assert.deepEqual(await gzip.json(), await identity.json())
})

test('every link and every button of the page leads to a reply', async () => {
  const html = await (await get('/')).text()
  const links = [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path as string)
  assert.ok(links.length >= 10)
  for (const path of links) assert.equal((await get(path)).status, 200, path)
  const buttons = [
    ...html.matchAll(/<button [^>]*data-method="(\w+)" data-path="([^"]*)"( data-secured)?[^>]*>/g),
  ]
  const routes = app.routes().filter(({ hidden }) => hidden !== true)
  assert.equal(buttons.length, routes.length)
  for (const [, method = '', path = '', secured] of buttons) {
    const reply = await fetch(url + path, { method, headers: secured ? { authorization } : {} })
    assert.equal(reply.status, method === 'POST' ? 400 : 200, path)
  }
})

test('an address that adds too many users is told when it may go on', async () => {
  const limited = reference(
    { signals: false },
    { database: join(folder, 'l.db'), token: 'secret', rateLimit: 2, maxEventLoopDelay: 9_999 },
  )
  const add = (name: string) =>
    limited.inject({
      method: 'POST',
      url: '/api/users',
      body: { name, email: `${name}@example.com`, age: 20 },
    })
  for (const name of ['one', 'two']) assert.equal((await add(name)).status, 201)
  const refused = await add('three')
  assert.equal(refused.status, 429)
  assert.match(String(refused.headers['retry-after']), /^\d+$/)
  assert.equal((await limited.inject('/api/users')).status, 200)
  await limited.close({ drainIdle: 0 })
})

test('a host that is no host does not reach the page', async () => {
  const reply = await app.inject({ url: '/', headers: { host: 'a"><script>alert(1)</script>' } })
  assert.ok(!reply.body.toString().includes('<script>alert'))
})

test('GET /api/users, page after page', async () => {
  const first = (await (await get('/api/users?limit=2')).json()) as { users: { id: number }[]; next: string }
  assert.deepEqual(first.users, [
    { id: 1, name: 'User 1', email: 'user1@example.com', age: 19 },
    { id: 2, name: 'User 2', email: 'user2@example.com', age: 20 },
  ])
  const second = (await (await get(first.next)).json()) as typeof first
  assert.deepEqual(
    second.users.map((user) => user.id),
    [3, 4],
  )
  const last = (await (await get('/api/users?after=999999')).json()) as { users: unknown[]; next: null }
  assert.deepEqual(last, { users: [], next: null })
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'after=-1', 'after=1&after=2', 'limit=']) {
    await problem(await get(`/api/users?${query}`), 400)
  }
})

test('GET /api/users/:id', async () => {
  const reply = await get('/api/users/123', { authorization })
  assert.equal(reply.status, 200)
  assert.deepEqual(await reply.json(), {
    user: { id: 123, name: 'User 123', email: 'user123@example.com', age: 21 },
  })
})

test('the name of the authentication scheme has no case', async () => {
  for (const value of ['bearer secret', 'BEARER  secret']) {
    assert.equal((await get('/api/users/1', { authorization: value })).status, 200, value)
  }
})

test('GET /api/users/:id asks for the token first', async () => {
  const rows = [
    [undefined, 401, 'Bearer'],
    ['', 401, 'Bearer'],
    ['Basic secret', 401, 'Bearer'],
    ['Bearer wrong', 401, 'Bearer error="invalid_token"'],
    ['Bearer secret2', 401, 'Bearer error="invalid_token"'],
    ['Bearer', 400, 'Bearer error="invalid_request"'],
  ] as const
  for (const [value, status, challenge] of rows) {
    const reply = await get('/api/users/abc', value === undefined ? {} : { authorization: value })
    await problem(reply, status)
    assert.match(reply.headers.get('www-authenticate') ?? '', new RegExp(`^${challenge}`))
  }
})

test('GET /api/users/:id with a bad or unknown id', async () => {
  for (const id of ['abc', '0', '-1', '1.5', '1e3', '1000000000000000', '12345678901234567']) {
    const { errors } = await problem(await get(`/api/users/${id}`, { authorization }), 400)
    assert.equal(errors?.[0]?.in, 'params')
  }
  const body = await problem(await get('/api/users/999999999999999', { authorization }), 404)
  assert.equal(body.detail, 'There is no user 999999999999999')
})

test('POST /api/users stores a user once', async () => {
  const user = { name: 'Alice', email: 'alice@example.com', age: 25 }
  const reply = await post(user)
  assert.equal(reply.status, 201)
  const stored = ((await reply.json()) as { user: typeof user & { id: number } }).user
  assert.ok(stored.id > 1000)
  assert.deepEqual(stored, { id: stored.id, ...user })
  const location = reply.headers.get('location') ?? ''
  assert.equal(location, `/api/users/${stored.id}`)
  assert.deepEqual(await (await get(location, { authorization })).json(), { user: stored })
  await problem(await post(user), 409)
  await problem(await post({ ...user, email: 'ALICE@example.com' }), 409)
})

test('POST /api/users names everything wrong', async () => {
  const pointers = async (body: unknown) =>
    (await problem(await post(body), 400)).errors?.map((issue) => `${issue.in} ${issue.pointer}`)
  assert.deepEqual(await pointers({ name: 'A', email: 'nobody', age: 17 }), [
    'body #/name',
    'body #/email',
    'body #/age',
  ])
  assert.deepEqual(await pointers({ name: 'Bob', email: 'bob@example.com', age: 18.5 }), ['body #/age'])
  assert.equal((await pointers({}))?.length, 3)
  for (const body of ['null', [], '"text"', '7']) assert.deepEqual(await pointers(body), ['body #'])
  assert.equal(await pointers('{"name":'), undefined)
  await problem(await fetch(`${url}/api/users`, { method: 'POST' }), 400)
})

test('ages and lengths at their boundaries', async () => {
  const base = { name: 'Edge', age: 30 }
  const cases: [Record<string, unknown>, number][] = [
    [{ age: 17 }, 400],
    [{ age: 18 }, 201],
    [{ age: 120 }, 201],
    [{ age: 121 }, 400],
    [{ age: '30' }, 400],
    [{ name: 'x'.repeat(100) }, 201],
    [{ name: 'x'.repeat(101) }, 400],
  ]
  for (const [index, [change, status]] of cases.entries()) {
    const reply = await post({ ...base, email: `edge${index}@example.com`, ...change })
    assert.equal(reply.status, status, JSON.stringify(change).slice(0, 40))
    await reply.body?.cancel()
  }
})

test('pages of other origins may use /api, and nothing else', async () => {
  const origin = 'https://app.example'
  const reply = await get('/api/users', { origin })
  assert.equal(reply.headers.get('access-control-allow-origin'), '*')
  assert.match(reply.headers.get('x-request-id') ?? '', /./)
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
  assert.equal((await get('/json', { origin })).headers.get('access-control-allow-origin'), null)
})

test('unknown paths and methods', async () => {
  await problem(await get('/nowhere'), 404)
  const reply = await fetch(`${url}/json`, { method: 'DELETE' })
  await problem(reply, 405)
  assert.match(reply.headers.get('allow') ?? '', /GET/)
})
