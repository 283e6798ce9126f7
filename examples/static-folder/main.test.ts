import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const html = { accept: 'text/html' }

test('the page, and the same page for the paths of the app in the browser', async () => {
  for (const path of ['/', '/users/7']) {
    const reply = await fetch(url + path, { headers: html })
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.match(await reply.text(), /<h1>Users/)
  }
  assert.equal((await fetch(`${url}/users/7`, { headers: html })).headers.get('cache-control'), 'no-cache')
})

test('an asset is kept for a year, and comes compressed', async () => {
  const path = `${url}/assets/app-4f2a91c7.js`
  const reply = await fetch(path, { headers: { 'accept-encoding': 'gzip' } })
  assert.equal(reply.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  assert.equal(reply.headers.get('content-encoding'), 'gzip')
  assert.match(await reply.text(), /^const users/)
  const plain = await fetch(path, { headers: { 'accept-encoding': 'identity' } })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.match(await plain.text(), /^const users/)
})

test('a folder has its index page behind a slash', async () => {
  const moved = await fetch(`${url}/docs`, { redirect: 'manual' })
  assert.deepEqual([moved.status, moved.headers.get('location')], [308, '/docs/'])
  assert.match(await (await fetch(`${url}/docs`)).text(), /<h1>Help/)
})

test('routes come first, and what is not there is 404', async () => {
  assert.deepEqual(await (await fetch(`${url}/api/users`)).json(), [{ id: 1, name: 'Ada' }])
  for (const path of ['/assets/none.js', '/none.css', '/.env', '/..%2fmain.ts']) {
    assert.equal((await fetch(url + path, { headers: html })).status, 404, path)
  }
})
