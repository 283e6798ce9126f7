import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually } from '@volant/test-kit'

process.env.PORT = '0'
const { app, finished, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('each request has a span of its own', async () => {
  const ids = ['7', '8']
  await Promise.all(ids.map((id) => fetch(`${url}/users/${id}`)))
  await eventually(() => finished.length === ids.length, 'both spans are finished')
  assert.deepEqual(finished.map(({ notes }) => notes).sort(), [['query: user 7'], ['query: user 8']])
  assert.ok(finished.every(({ name, status }) => name === 'GET /users/:id' && status === 200))
})
