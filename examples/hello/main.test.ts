import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('text is sent as text', async () => {
  const reply = await fetch(url)
  assert.equal(reply.headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.equal(await reply.text(), 'Hello World')
})

test('an object is sent as JSON', async () => {
  const reply = await fetch(`${url}/hello/Ada`)
  assert.equal(reply.status, 200)
  assert.deepEqual(await reply.json(), { hello: 'Ada' })
})
