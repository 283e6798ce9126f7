import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('middleware of the app runs for every request, also where no route is', async () => {
  for (const path of ['/', '/admin/users', '/clock', '/nowhere']) {
    const reply = await fetch(url + path)
    assert.match(reply.headers.get('x-request-id') ?? '', /^[\w-]+$/)
  }
})

test('a path of its own', async () => {
  const refused = await fetch(`${url}/admin/users`)
  assert.equal(refused.status, 401)
  assert.equal(refused.headers.get('www-authenticate'), 'Bearer')
  assert.equal((await fetch(`${url}/admin/nowhere`)).status, 401)
  const passed = await fetch(`${url}/admin/users`, { headers: { authorization: 'Bearer secret' } })
  assert.deepEqual(await passed.json(), ['Ada', 'Grace'])
})

test('on one route', async () => {
  assert.equal((await fetch(`${url}/clock`)).headers.get('cache-control'), 'no-store')
  assert.equal((await fetch(url)).headers.get('cache-control'), null)
})
