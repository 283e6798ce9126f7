import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNotes } from './notes.ts'

test('inject: through the whole app, without a socket', async () => {
  const app = createNotes()
  const made = await app.inject({ method: 'PUT', url: '/notes/1', body: 'milk' })
  assert.equal(made.status, 201)
  const again = await app.inject({ method: 'PUT', url: '/notes/1', body: 'bread' })
  assert.equal(again.status, 204)
  const read = await app.inject('/notes/1')
  assert.equal(read.headers['content-type'], 'application/json; charset=utf-8')
  assert.deepEqual(read.json(), { text: 'bread' })
})

test('each test has its own data', async () => {
  const app = createNotes(new Map([['a', 'b']]))
  assert.equal((await app.inject('/notes/a')).status, 200)
  const missing = await app.inject('/notes/1')
  assert.equal(missing.status, 404)
  assert.deepEqual(missing.json(), {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'No such note',
  })
})

test('a real socket, where it matters', async () => {
  const app = createNotes(new Map([['a', 'b']]))
  const { url } = await app.listen(0, '127.0.0.1')
  try {
    const reply = await fetch(`${url}/notes/a`)
    assert.deepEqual(await reply.json(), { text: 'b' })
  } finally {
    await app.close({ drainIdle: 0 })
  }
})
