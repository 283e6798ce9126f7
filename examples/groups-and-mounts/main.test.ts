import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
const { blog } = await import('./blog.ts')
after(() => app.close({ drainIdle: 0 }))

test('a group has a prefix, middleware and a 404 of its own', async () => {
  const root = await fetch(`${url}/api`)
  assert.deepEqual(await root.json(), { version: 1 })
  assert.equal(root.headers.get('cache-control'), 'no-store')
  const missing = await fetch(`${url}/api/nowhere`)
  assert.equal(missing.status, 404)
  assert.deepEqual(await missing.json(), { error: 'the API has no /api/nowhere' })
  assert.equal((await fetch(`${url}/blog`)).headers.get('cache-control'), null)
})

test('parameters of a prefix reach the handlers', async () => {
  assert.deepEqual(await (await fetch(`${url}/api/users/7`)).json(), { id: '7' })
  assert.deepEqual(await (await fetch(`${url}/api/users/7/posts/8`)).json(), { id: '7', post: '8' })
})

test('a mounted app keeps its error handler', async () => {
  assert.deepEqual(await (await fetch(`${url}/blog/first`)).json(), { text: 'Hello' })
  const missing = await fetch(`${url}/blog/none`)
  assert.equal(missing.status, 404)
  assert.equal(await missing.text(), 'The blog says: 404')
})

test('and is an app by itself', async () => {
  assert.deepEqual((await blog.inject('/first')).json(), { text: 'Hello' })
})
