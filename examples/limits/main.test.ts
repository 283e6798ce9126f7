import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApp } from 'volant'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const post = (path: string, size: number) =>
  fetch(url + path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(size) })

test('a body may be as long as the limit, and no longer', async () => {
  assert.deepEqual(await (await post('/comments', 16_384)).json(), { length: 16_384 })
  const refused = await post('/comments', 16_385)
  assert.equal(refused.status, 413)
  assert.equal(((await refused.json()) as { code: string }).code, 'E_BODY_TOO_LARGE')
})

test('a route may have its own', async () => {
  assert.deepEqual(await (await post('/photos', 100_000)).json(), { bytes: 100_000 })
})

test('a handler that takes too long is told so, and the client, too', async () => {
  const reply = await fetch(`${url}/slow`)
  assert.equal(reply.status, 503)
})

test('a limit that makes no sense is refused at once', () => {
  assert.throws(() => createApp({ limits: { maxBodySize: -1 } }), { code: 'E_BAD_OPTION' })
})
