import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authorization, serving, json } from './kit.ts'

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
