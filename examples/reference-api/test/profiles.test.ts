import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Profile, ProfileName, Settings } from '../src/profiles.ts'
import { profiles } from '../src/profiles.ts'

const folder = mkdtempSync(join(tmpdir(), 'profiles-'))
const token = 'valid-token'
const authorization = `Bearer ${token}`
after(() => rmSync(folder, { recursive: true }))

interface Ask extends RequestInit {
  headers?: Record<string, string>
}

type Answer = Response & { value: unknown }

/** Serves a profile on a free port while `run` asks it. */
async function serving(
  name: ProfileName,
  run: (ask: (path: string, init?: Ask) => Promise<Answer>) => Promise<void>,
  settings: Partial<Settings> = {},
): Promise<void> {
  const profile: Profile = profiles[name]
  const app = await profile.create(
    { signals: false },
    { database: join(folder, `${name}.db`), token, ...settings },
  )
  const { url } = await app.listen(0, '127.0.0.1')
  try {
    await run(async (path, init = {}) => {
      const reply = await fetch(url + path, init)
      const text = await reply.text()
      const isJson = reply.headers.get('content-type')?.includes('json') === true
      return Object.assign(reply, { value: isJson ? JSON.parse(text) : text })
    })
  } finally {
    await app.close({ drainIdle: 0 })
  }
}

const json = (body: unknown, method = 'POST'): Ask => ({
  method,
  headers: { 'content-type': 'application/json', authorization },
  body: JSON.stringify(body),
})

const jobs = Array.from({ length: 200 }, (_, id) => ({
  id,
  title: 'Software engineer',
  employer: 'acme corp',
}))

describe('ramapi', () => {
  test('plain, behind the middleware stack, custom', () =>
    serving('ramapi', async (ask) => {
      assert.deepEqual((await ask('/json')).value, { message: 'Hello World' })
      assert.deepEqual((await ask('/custom')).value, { result: 'data' })
      const list = await ask('/api/users', { headers: { origin: 'https://app.example' } })
      assert.equal(list.status, 200)
      assert.equal(list.headers.get('access-control-allow-origin'), '*')
      const { requestId, users } = list.value as { requestId: string; users: unknown }
      assert.match(requestId, /^0\.[a-z0-9]+$/)
      assert.deepEqual(users, [
        { id: 1, name: 'Alice' },
        { id: 2, name: 'Bob' },
      ])
    }))

  test('401, 400, 404 and 200 of a user', () =>
    serving('ramapi', async (ask) => {
      const headers = { authorization }
      for (const wrong of [{}, { authorization: 'Bearer token' }]) {
        const reply = await ask('/api/users/123', { headers: wrong as Record<string, string> })
        assert.equal(reply.status, 401)
        assert.deepEqual(reply.value, { error: 'Unauthorized' })
      }
      assert.equal((await ask('/api/users/abc', { headers })).status, 400)
      const missing = await ask('/api/users/999999', { headers })
      assert.equal(missing.status, 404)
      assert.deepEqual(missing.value, { error: 'User not found' })
      const found = await ask('/api/users/123', { headers })
      assert.equal(found.status, 200)
      assert.deepEqual(found.value, {
        user: { id: 123, name: 'User 123', email: 'user123@example.com', age: 21 },
      })
    }))

  test('a user is stored once: 201, then 409', () =>
    serving('ramapi', async (ask) => {
      const alice = { name: 'Alice', email: 'alice@example.com', age: 25 }
      const created = await ask('/api/users', json(alice))
      assert.equal(created.status, 201)
      const { user } = created.value as { user: { id: number } }
      assert.deepEqual(user, { id: user.id, ...alice })
      const again = await ask('/api/users', json(alice))
      assert.equal(again.status, 409)
      assert.deepEqual(again.value, { error: 'Email already exists' })
      assert.equal((await ask('/api/users', json({ ...alice, age: 17 }))).status, 400)
      for (let id = 0; id < 20; id++) {
        const reply = await ask('/api/users', json({ ...alice, email: `unique${id}@example.com` }))
        assert.equal(reply.status, 201)
      }
    }))
})

describe('veloze', () => {
  test('what its conformance test asks', () =>
    serving('veloze', async (ask) => {
      const root = await ask('/')
      assert.equal(root.status, 200)
      assert.equal(root.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.deepEqual(root.value, { hello: 'world' })
      assert.deepEqual((await ask('/kitty')).value, { hello: 'kitty' })
      const posted = await ask('/', json({ hello: 'new' }))
      assert.equal(posted.status, 201)
      assert.deepEqual(posted.value, { created: true })
      assert.equal((await ask('/foo', { method: 'PUT' })).status, 405)
      assert.equal((await ask('/foo/bar')).status, 404)
    }))

  test('with six middlewares', () =>
    serving('veloze-with-middlewares', async (ask) => {
      const reply = await ask('/')
      assert.deepEqual(reply.value, { hello: 'world' })
      for (const [name, value] of [
        ['access-control-allow-origin', '*'],
        ['x-dns-prefetch-control', 'off'],
        ['x-frame-options', 'SAMEORIGIN'],
        ['x-powered-by', null],
        ['strict-transport-security', 'max-age=15552000; includeSubDomains'],
        ['x-xss-protection', '0'],
      ] as const) {
        assert.equal(reply.headers.get(name), value, name)
      }
    }))

  test('200 records', () =>
    serving('veloze-big-json', async (ask) => {
      assert.deepEqual((await ask('/')).value, jobs)
    }))
})

describe('zapjs', () => {
  const statics = [
    '/',
    '/health',
    '/api/status',
    '/api/version',
    '/metrics',
    '/about',
    '/contact',
    '/api/config',
  ]
  const dynamics = ['users', 'posts', 'products', 'orders', 'comments']

  test('every path of its scripts is there', () =>
    serving('zapjs', async (ask) => {
      for (const path of statics) assert.equal((await ask(path)).status, 200, path)
      for (const kind of dynamics) {
        for (const id of [1, 1000]) {
          const reply = await ask(`/api/${kind}/${id}`)
          assert.equal(reply.status, 200)
          assert.equal((reply.value as { id: string }).id, String(id))
        }
      }
      assert.equal((await ask('/api/nothing')).status, 404)
    }))

  test('the payloads of its comparison', () =>
    serving('zapjs', async (ask) => {
      assert.equal((await ask('/')).value, 'Hello, World!')
      assert.deepEqual((await ask('/health')).value, { status: 'ok' })
      assert.deepEqual((await ask('/api/users/42')).value, {
        id: '42',
        name: 'John Doe',
        email: 'user42@example.com',
        role: 'user',
      })
      const list = (await ask('/api/users')).value as { users: unknown[]; total: number; page: number }
      assert.equal(list.users.length, 10)
      assert.deepEqual(list.users[9], { id: 10, name: 'User 10', email: 'user10@example.com' })
      assert.deepEqual([list.total, list.page], [10, 1])
      const body = { name: 'Ada' }
      const { message, user, id } = (await ask('/api/users', json(body))).value as Record<string, unknown>
      assert.equal(message, 'User created')
      assert.deepEqual(user, body)
      assert.equal(typeof id, 'number')
      assert.deepEqual((await ask('/api/users/42/posts/99')).value, {
        userId: '42',
        postId: '99',
        title: 'Sample Post',
        content: 'Lorem ipsum dolor sit amet',
      })
    }))
})

describe('nessen', () => {
  test('its five routes', () =>
    serving('nessen', async (ask) => {
      const home = await ask('/')
      assert.equal(home.headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(home.headers.get('x-content-type-options'), 'nosniff')
      assert.match(home.headers.get('x-request-id') ?? '', /./)
      const live = await ask('/health')
      assert.equal(live.value, 'OK')
      assert.equal(live.headers.get('x-content-type-options'), null)
      assert.equal((await ask('/health', { method: 'HEAD' })).status, 200)
      assert.equal((await ask('/ready')).value, 'Ready')
      const health = (await ask('/api/health')).value as { ok: boolean; requests: { total: number } }
      assert.equal(health.ok, true)
      assert.ok(health.requests.total >= 4)
      const badge = await ask('/badge/status/ok.svg')
      assert.equal(badge.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
      assert.match(badge.value as string, />status<.*>ok</)
      assert.equal(badge.headers.get('content-encoding'), null)
      const large = await ask(`/badge/${'&'.repeat(200)}/ok.svg`, {
        headers: { 'accept-encoding': 'gzip' },
      })
      assert.equal(large.headers.get('content-encoding'), 'gzip')
    }))

  test('nobody is told 429 after a hundred requests', () =>
    serving('nessen', async (ask) => {
      for (let count = 0; count < 150; count++) {
        const reply = await ask('/ready')
        assert.equal(reply.status, 200)
        assert.match(reply.headers.get('ratelimit') ?? '', /^"default";r=\d+;t=\d+$/)
      }
    }))

  test('with a limit of 2 a minute they are, behind all of its stack but not at /health', () =>
    serving(
      'nessen',
      async (ask) => {
        const statuses: number[] = []
        for (let count = 0; count < 3; count++) statuses.push((await ask('/ready')).status)
        assert.deepEqual(statuses, [200, 200, 429])
        const refused = await ask('/')
        assert.equal(refused.status, 429)
        assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
        assert.equal(refused.headers.get('x-content-type-options'), 'nosniff')
        assert.equal((await ask('/health')).status, 200)
      },
      // So one more is let through after 30 s, and not while a slow machine still asks.
      { rateLimit: 2 },
    ))
})

describe('veloxts', () => {
  test('health and memory', () =>
    serving('veloxts', async (ask) => {
      const health = (await ask('/api/health')).value as Record<string, unknown>
      assert.deepEqual(Object.keys(health), ['status', 'version', 'timestamp', 'uptime'])
      assert.equal(health.status, 'ok')
      const memory = (await ask('/debug/memory')).value as Record<string, number>
      for (const key of ['heapUsed', 'heapTotal', 'rss', 'external', 'arrayBuffers', 'rssMB'])
        assert.ok((memory[key] as number) > 0, key)
    }))

  test('users: a page, a search, one', () =>
    serving('veloxts', async (ask) => {
      const { data, meta } = (await ask('/api/users?page=2&limit=2')).value as {
        data: { id: string }[]
        meta: unknown
      }
      assert.deepEqual(meta, { page: 2, limit: 2, total: 3 })
      assert.equal(data.length, 1)
      assert.deepEqual((await ask(`/api/users/${data[0]?.id}`)).value, data[0])
      const found = (await ask('/api/users/search?q=ALICE')).value as { name: string }[]
      assert.deepEqual(
        found.map(({ name }) => name),
        ['Alice Johnson'],
      )
      for (const path of ['/api/users/7', '/api/users?page=0', '/api/users?limit=x', '/api/users/search'])
        assert.equal((await ask(path)).status, 400, path)
      assert.equal((await ask('/api/users/550e8400-e29b-41d4-a716-446655440009')).status, 404)
    }))

  test('users: add, change, remove; for a token only', () =>
    serving('veloxts', async (ask) => {
      const grace = { name: 'Grace Hopper', email: 'grace@example.com' }
      assert.equal((await ask('/api/users', { ...json(grace), headers: {} })).status, 401)
      const created = await ask('/api/users', json(grace))
      assert.equal(created.status, 201)
      const { id, name } = created.value as { id: string; name: string }
      assert.equal(name, grace.name)
      const changed = await ask(`/api/users/${id}`, json({ name: 'Admiral Hopper' }, 'PATCH'))
      assert.deepEqual(
        { ...(changed.value as object), createdAt: 0, updatedAt: 0 },
        { id, ...grace, name: 'Admiral Hopper', createdAt: 0, updatedAt: 0 },
      )
      const removed = await ask(`/api/users/${id}`, { method: 'DELETE', headers: { authorization } })
      assert.deepEqual(removed.value, { success: true })
      assert.equal((await ask(`/api/users/${id}`)).status, 404)
    }))

  test('the same procedures over tRPC', () =>
    serving('veloxts', async (ask) => {
      const query = (path: string, input?: unknown) =>
        ask(
          `/trpc/${path}${input === undefined ? '' : `?input=${encodeURIComponent(JSON.stringify(input))}`}`,
        )
      const data = (value: unknown) => (value as { result: { data: unknown } }).result.data
      const health = data((await query('health.getHealth')).value) as Record<string, unknown>
      assert.deepEqual(Object.keys(health), ['status', 'version', 'timestamp', 'uptime'])
      const list = data((await query('users.listUsers', { limit: 1 })).value) as { data: { id: string }[] }
      const [first] = list.data
      assert.deepEqual(data((await query('users.getUser', { id: first?.id })).value), first)
      const missing = await query('users.getUser', { id: '550e8400-e29b-41d4-a716-446655440009' })
      assert.equal(missing.status, 404)
      const { error } = missing.value as { error: { data: { error: unknown } } }
      assert.deepEqual(error.data.error, { code: 'NO_USER' })
      const grace = { name: 'Grace Hopper', email: 'grace@example.com' }
      assert.equal(
        (
          await ask('/trpc/users.createUser', {
            ...json(grace),
            headers: { 'content-type': 'application/json' },
          })
        ).status,
        401,
      )
      const created = data((await ask('/trpc/users.createUser', json(grace))).value) as {
        id: string
        name: string
      }
      assert.equal(created.name, grace.name)
      assert.equal((await query('users.deleteUser', { id: created.id })).status, 405)
    }))
})
