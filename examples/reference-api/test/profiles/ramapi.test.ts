import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { authorization, serving, json } from './kit.ts'

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
