import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createService } from '../src/app.ts'
import { openDatabase } from '../src/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'reference-api-'))
const database = openDatabase(join(folder, 'new/test.db'))
const app = createService({ database, token: 'secret' })
const authorization = 'Bearer secret'
let url = ''

before(async () => {
  ;({ url } = await app.listen({ port: 0, host: '127.0.0.1' }))
})

after(async () => {
  await app.close()
  database.close()
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
  const body = (await reply.json()) as { status: number; detail: string; data?: Record<string, string> }
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

test('GET /health', async () => {
  const { status, uptime } = (await (await get('/health')).json()) as { status: string; uptime: number }
  assert.equal(status, 'ok')
  assert.ok(uptime > 0)
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

test('GET / says what is running and may load nothing', async () => {
  const reply = await get('/')
  assert.equal(reply.status, 200)
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(reply.headers.get('content-security-policy') ?? '', /default-src 'none'; style-src 'sha256-/)
  const html = await reply.text()
  for (const text of [app.adapterName, process.version, database.driver, new URL(url).host])
    assert.ok(html.includes(text), text)
  assert.doesNotMatch(html, /<script|src=|style=/)
  const links = [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, path]) => path as string)
  assert.ok(links.length >= 6)
  for (const path of links) assert.equal((await get(path)).status, 200, path)
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
  for (const value of [undefined, '', 'Bearer', 'Bearer wrong', 'Bearer secret2', 'Basic secret']) {
    const reply = await get('/api/users/abc', value === undefined ? {} : { authorization: value })
    await problem(reply, 401)
    assert.equal(reply.headers.get('www-authenticate'), 'Bearer')
  }
})

test('GET /api/users/:id with a bad or unknown id', async () => {
  for (const id of ['abc', '0', '-1', '1.5', '1e3', '9007199254740993', '12345678901234567']) {
    await problem(await get(`/api/users/${id}`, { authorization }), 400)
  }
  const body = await problem(await get('/api/users/9007199254740991', { authorization }), 404)
  assert.equal(body.detail, 'There is no user 9007199254740991')
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
  const all = await problem(await post({ name: 'A', email: 'nobody', age: 17 }), 400)
  assert.deepEqual(Object.keys(all.data ?? {}), ['name', 'email', 'age'])
  const one = await problem(await post({ name: 'Bob', email: 'bob@example.com', age: 18.5 }), 400)
  assert.deepEqual(one.data, { age: 'must be a whole number from 18 to 120' })
  for (const body of [null, [], 'null', '"text"', '7', '{}']) {
    assert.equal(Object.keys((await problem(await post(body), 400)).data ?? {}).length, 3)
  }
  assert.equal((await problem(await post('{"name":'), 400)).data, undefined)
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

test('unknown paths and methods', async () => {
  await problem(await get('/nowhere'), 404)
  const reply = await fetch(`${url}/json`, { method: 'DELETE' })
  await problem(reply, 405)
  assert.match(reply.headers.get('allow') ?? '', /GET/)
})
