import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { reference } from '../../src/profiles/reference.ts'
import { authorization, problem, serving } from './kit.ts'

const { folder, ask, get } = serving()

const post = (body: unknown) =>
  ask('/api/users', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
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
  await problem(await ask('/api/users', { method: 'POST' }), 400)
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
