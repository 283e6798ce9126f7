import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const send = (method: string, path: string, body: unknown) =>
  fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('the handler sees converted values and defaults', async () => {
  assert.deepEqual(await (await fetch(`${url}/users`)).json(), { limit: 20 })
  assert.deepEqual(await (await fetch(`${url}/posts?limit=5`)).json(), { limit: 5 })
  const made = await send('POST', '/users', { name: 'Ada', email: 'ada@example.com' })
  assert.equal(made.status, 201)
  assert.deepEqual(await made.json(), { id: 1, name: 'Ada', email: 'ada@example.com', admin: false })
})

test('everything wrong with a request is in one reply', async () => {
  const reply = await send('PUT', '/users/none', { name: '', email: 'ada' })
  assert.equal(reply.status, 400)
  assert.equal(reply.headers.get('content-type'), 'application/problem+json; charset=utf-8')
  const { code, errors } = (await reply.json()) as { code: string; errors: { in: string; pointer: string }[] }
  assert.equal(code, 'E_VALIDATION')
  assert.deepEqual(
    errors.map((issue) => `${issue.in}${issue.pointer}`),
    ['params#/id', 'body#/name', 'body#/email'],
  )
})
