import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const chunk = Buffer.alloc(1_048_576, 'x')

function upload(chunks: number): RequestInit {
  async function* body() {
    for (let at = 0; at < chunks; at++) yield chunk
  }
  return { method: 'PUT', body: ReadableStream.from(body()), duplex: 'half' } as RequestInit
}

test('64 MiB are taken, and memory does not grow with them', async () => {
  await (await fetch(`${url}/files/small`, upload(1))).json()
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().arrayBuffers)), 1)
  const reply = await fetch(`${url}/files/large`, upload(64))
  clearInterval(watch)
  assert.deepEqual(await reply.json(), { name: 'large', size: 64 * chunk.length })
  assert.ok(most - before < 48 * chunk.length, `${most - before} bytes more were held`)
})

test('an upload past the limit is refused', async () => {
  const reply = await app.inject({
    method: 'PUT',
    url: '/files/huge',
    headers: { 'content-length': String(2 ** 30 + 1) },
  })
  assert.equal(reply.status, 413)
})
