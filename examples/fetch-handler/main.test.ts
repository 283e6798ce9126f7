import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, askShop, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('without a server', async () => {
  const reply = await askShop(new Request('http://shop/items/7'))
  assert.equal(reply.status, 200)
  assert.deepEqual(await reply.json(), { item: '7' })
})

test('a Response is a reply', async () => {
  assert.deepEqual(await (await fetch(`${url}/shop/7`)).json(), { item: '7' })
})

test('a handler of the web is called with the request', async () => {
  const reply = await fetch(`${url}/legacy/x`, { method: 'PUT', body: 'hello' })
  assert.equal(reply.status, 202)
  assert.deepEqual(await reply.json(), { method: 'PUT', sent: 'hello' })
})
