import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const replies: [method: string, path: string, status: number, body: string][] = [
  ['GET', '/users', 200, 'page 1'],
  ['GET', '/users?page=2', 200, 'page 2'],
  ['GET', '/users/me', 200, 'a path without parameters wins'],
  ['GET', '/users/J%C3%BCrgen', 200, 'user Jürgen'],
  ['PATCH', '/users/7', 200, 'PATCH of user 7'],
  ['GET', '/badge/build/passing.svg', 200, 'build is passing'],
  ['GET', '/calendar/2026', 200, 'all of 2026'],
  ['GET', '/calendar/2026/11', 200, '11'],
  ['GET', '/files/a/b/c.txt', 200, 'the file a/b/c.txt'],
  ['DELETE', '/echo', 200, 'DELETE'],
  ['GET', '/nowhere', 404, 'there is no /nowhere'],
  ['HEAD', '/users', 200, ''],
]

for (const [method, path, status, body] of replies) {
  test(`${method} ${path}`, async () => {
    const reply = await fetch(url + path, { method })
    assert.equal(reply.status, status)
    assert.equal(await reply.text(), body)
  })
}

test('a method the path does not have is 405, and OPTIONS names those it has', async () => {
  const refused = await fetch(`${url}/users/7`, { method: 'DELETE' })
  assert.equal(refused.status, 405)
  assert.equal(refused.headers.get('allow'), 'GET, HEAD, PUT, PATCH, OPTIONS')
  const options = await fetch(`${url}/users/7`, { method: 'OPTIONS' })
  assert.equal(options.status, 204)
  assert.equal(options.headers.get('allow'), 'GET, HEAD, PUT, PATCH, OPTIONS')
})

test('routes() lists them', () => {
  assert.ok(app.routes().some(({ method, path }) => method === 'PUT' && path === '/users/:id'))
})
