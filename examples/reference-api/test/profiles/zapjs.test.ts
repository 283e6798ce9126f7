import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serving, json } from './kit.ts'

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
