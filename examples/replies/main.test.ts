import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const replies: [path: string, status: number, type: string | null, body: string][] = [
  ['/text', 200, 'text/plain; charset=utf-8', 'a string is text/plain'],
  ['/json', 200, 'application/json; charset=utf-8', '{"an":"object","is":["JSON"]}'],
  ['/bytes', 200, 'application/octet-stream', '\u0001\u0002\u0003'],
  ['/nothing', 204, null, ''],
  ['/response', 202, 'text/plain;charset=UTF-8', 'of the web'],
  ['/later', 200, 'application/json; charset=utf-8', '{"users":1000}'],
  ['/page', 200, 'text/html; charset=utf-8', '<h1>Hello</h1>'],
  ['/badge.svg', 200, 'image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'],
]

for (const [path, status, type, body] of replies) {
  test(`GET ${path}`, async () => {
    const reply = await fetch(url + path)
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('content-type'), type)
    assert.equal(await reply.text(), body)
  })
}

test('a redirect', async () => {
  const reply = await fetch(`${url}/old`, { redirect: 'manual' })
  assert.equal(reply.status, 301)
  assert.equal(reply.headers.get('location'), '/page')
})

test('status and headers of a reply', async () => {
  const made = await fetch(`${url}/users`, { method: 'POST' })
  assert.equal(made.status, 201)
  assert.equal(made.headers.get('location'), '/users/7')
  assert.deepEqual(await made.json(), { id: 7 })
  const gone = await fetch(`${url}/users/7`, { method: 'DELETE' })
  assert.equal(gone.status, 204)
})
